/// A program that runs, for sending signals to it.
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
/// It may be kept beyond the program's end: then its methods do nothing. A signal never reaches another program that
/// was given the same identifier later, because the system keeps that until the last signal is through.
public struct RunningProcess: Sendable {
  /// Whom a signal reaches.
  public enum Recipient: Sendable {
    /// The program and what it started, other than what left the process group.
    case group
    /// The program alone.
    case program
  }

  /// The number by which the system knows the program, and its process group.
  public let processIdentifier: Int32
  private let hold: ProcessHold

  init(_ hold: ProcessHold, identifier: Int32) {
    self.hold = hold
    processIdentifier = identifier
  }

  /// Sends a signal.
  ///
  /// - Parameters:
  ///   - signal: Any of the system's.
  ///   - recipient: Whom it reaches.
  /// - Returns: Whether the signal was sent; not if the run has ended, or if there is no such signal.
  @discardableResult public func send(
    _ signal: ProcessSignal, to recipient: Recipient = .group
  ) -> Bool {
    hold.send(signal, to: recipient)
  }

  /// Stops the program and what it started, until ``resume()``.
  ///
  /// - Returns: Whether that could be done; not if the run has ended.
  @discardableResult public func suspend() -> Bool { send(.stop) }

  /// Has the program and what it started go on.
  ///
  /// - Returns: Whether that could be done; not if the run has ended.
  @discardableResult public func resume() -> Bool { send(.goOn) }
}
