internal import CProcesses
internal import CompositeOperations
internal import Synchronization
internal import SystemSupport

/// A handle to a program that is running, for sending signals to it.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let encode = ProcessOperation("ffmpeg", "-i", "in.mov", "out.mp4")
///   .onLaunch { process in
///     process.suspend()
///     process.resume()
///   }
/// ```
///
/// The handle may be kept after the program has ended: then its methods do nothing. A signal never
/// reaches another program that gets the same identifier later, because the system reserves the
/// identifier until the last signal has been sent.
public struct RunningProcess: Sendable {
  /// The processes that receive a signal.
  public enum Recipient: Sendable {
    /// The program and the processes that it started, except those that left the process group.
    case group
    /// Only the program.
    case program
  }

  /// The process identifier of the program, and of its process group.
  public let processIdentifier: Int32
  private let reaper: ProcessReaper

  init(_ reaper: ProcessReaper, identifier: Int32) {
    self.reaper = reaper
    processIdentifier = identifier
  }

  /// Sends a signal.
  ///
  /// - Parameters:
  ///   - signal: Any signal of the system.
  ///   - recipient: The processes that receive it.
  /// - Returns: Whether the signal was sent. It is not sent if the run has ended, or if there is no
  ///   such signal.
  @discardableResult public func send(
    _ signal: ProcessSignal, to recipient: Recipient = .group
  ) -> Bool {
    reaper.send(signal, to: recipient)
  }

  /// Suspends the program and the processes that it started, until ``resume()``.
  ///
  /// - Returns: Whether they were suspended; false if the run has ended.
  @discardableResult public func suspend() -> Bool { send(.stop) }

  /// Resumes the program and the processes that it started.
  ///
  /// - Returns: Whether they were resumed; false if the run has ended.
  @discardableResult public func resume() -> Bool { send(.goOn) }
}

/// Sends signals to a process, and takes (reaps) its status when it has ended.
///
/// The system reserves the identifier of the process until its status is taken. That and every
/// signal happen under the lock, so no signal reaches a later process with the same identifier.
/// They are system calls that return at once.
final class ProcessReaper: Sendable {
  private let identifier = Lock<Int32?>(nil)
  private let signalled = Atomic<Bool>(false)

  /// The error if there is no status.
  enum LostStatus: Error { case lost }

  /// See ``ProcessResult/wasSignalled``.
  var wasSignalled: Bool { signalled.load(ordering: .acquiring) }

  func started(_ process: Int32) { identifier.withLock { $0 = process } }

  func send(_ signal: ProcessSignal, to recipient: RunningProcess.Recipient) -> Bool {
    identifier.withLock { identifier in
      guard let identifier else { return false }
      if signal != .stop, signal != .goOn { noteSignal(to: identifier) }
      switch recipient {
      case .program: return isSent(signal, to: identifier)
      case .group:
        let isSentToGroup =
          (try? SystemProcess.send(signal.rawValue, toGroup: identifier)) != nil
        // The program may have moved to another group.
        if SystemProcess.group(of: identifier) == identifier { return isSentToGroup }
        return isSent(signal, to: identifier) || isSentToGroup
      }
    }
  }

  private func noteSignal(to identifier: Int32) {
    if !process_has_ended(identifier) { signalled.store(true, ordering: .releasing) }
  }

  private func isSent(_ signal: ProcessSignal, to identifier: Int32) -> Bool {
    (try? SystemProcess.send(signal.rawValue, to: identifier)) != nil
  }

  /// Sends SIGKILL to the program and its group.
  ///
  /// - Returns: Whether the program ends; false if this process has no permission to signal it.
  func killGroup() -> Bool {
    identifier.withLock { identifier in
      guard let identifier else { return true }
      noteSignal(to: identifier)
      try? SystemProcess.send(SystemSignal.kill, toGroup: identifier)
      do throws(SystemError) {
        try SystemProcess.send(SystemSignal.kill, to: identifier)
        return true
      } catch {
        return error != .notPermitted || process_has_ended(identifier)
      }
    }
  }

  /// Takes the status of the process, which must have ended. No signal is sent after this call.
  func reap() -> Result<ProcessStatus, LostStatus> {
    identifier.withLock { identifier in
      guard let reaped = identifier else { return .failure(.lost) }
      identifier = nil
      var end = process_end()
      guard AdoptedProcesses.reapProgram(reaped, &end) else { return .failure(.lost) }
      return .success(
        end.by_signal ? .signalled(ProcessSignal(rawValue: end.code)) : .exited(end.code))
    }
  }
}
