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
