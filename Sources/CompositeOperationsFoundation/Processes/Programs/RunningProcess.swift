internal import CProcesses
internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

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
  private let hold: ProcessHold

  init(_ hold: ProcessHold, identifier: Int32) {
    self.hold = hold
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
    hold.send(signal, to: recipient)
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

/// The right to send signals to a process, while its identifier is valid.
///
/// The system reserves the identifier until the status of the ended process is taken. That and
/// every signal happen under the lock, so no signal comes too late. They are system calls that
/// return at once.
final class ProcessHold: Sendable {
  private let leader = Lock<Int32?>(nil)

  /// The error if there is no status.
  enum LostStatus: Error { case lost }

  func began(_ identifier: Int32) { leader.withLock { $0 = identifier } }

  func send(_ signal: ProcessSignal, to recipient: RunningProcess.Recipient) -> Bool {
    leader.withLock { leader in
      guard let leader else { return false }
      switch recipient {
      case .program: return kill(leader, signal.rawValue) == 0
      case .group:
        let isSent = kill(-leader, signal.rawValue) == 0
        // The program may have moved to another group.
        return getpgid(leader) == leader ? isSent : kill(leader, signal.rawValue) == 0 || isSent
      }
    }
  }

  /// Sends SIGKILL to the program and its group.
  ///
  /// - Returns: Whether the program ends; false if this process may not signal it.
  func endByForce() -> Bool {
    leader.withLock { leader in
      guard let leader else { return true }
      kill(-leader, SIGKILL)
      return kill(leader, SIGKILL) == 0 || errno != EPERM || process_has_ended(leader)
    }
  }

  /// Takes the status of the process, which must have ended. No signal is sent after this call.
  func reap() -> Result<ProcessStatus, LostStatus> {
    leader.withLock { leader in
      guard let identifier = leader else { return .failure(.lost) }
      leader = nil
      var end = process_end()
      guard unsafe process_reap(identifier, &end) == 0 else { return .failure(.lost) }
      return .success(
        end.by_signal ? .signalled(ProcessSignal(rawValue: end.code)) : .exited(end.code))
    }
  }
}
