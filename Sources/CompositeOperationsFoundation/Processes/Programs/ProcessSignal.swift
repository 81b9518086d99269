internal import SystemSupport

/// A signal.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let server = ProcessOperation("server").onLaunch { process in
///   process.send(.hangUp, to: .program)
/// }
/// ```
public struct ProcessSignal: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The number of the signal.
  public let rawValue: Int32

  /// Creates a signal from its number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM: asks a process to end.
  public static let terminate = ProcessSignal(rawValue: SystemSignal.terminate)
  /// SIGKILL: ends a process by force.
  public static let kill = ProcessSignal(rawValue: SystemSignal.kill)
  /// SIGINT: sent by Ctrl-C.
  public static let interrupt = ProcessSignal(rawValue: SystemSignal.interrupt)
  /// SIGQUIT: sent by Ctrl-\.
  public static let quit = ProcessSignal(rawValue: SystemSignal.quit)
  /// SIGHUP: the terminal was closed. Services reload their settings.
  public static let hangUp = ProcessSignal(rawValue: SystemSignal.hangUp)
  /// SIGSTOP: suspends a process.
  public static let stop = ProcessSignal(rawValue: SystemSignal.stop)
  /// SIGCONT: resumes a suspended process.
  public static let goOn = ProcessSignal(rawValue: SystemSignal.continue)
  /// SIGPIPE: the process has written to a pipe that nothing reads any more.
  public static let brokenPipe = ProcessSignal(rawValue: SystemSignal.brokenPipe)
  /// SIGUSR1: defined by the program.
  public static let user1 = ProcessSignal(rawValue: SystemSignal.user1)
  /// SIGUSR2: defined by the program.
  public static let user2 = ProcessSignal(rawValue: SystemSignal.user2)

  /// The name and the number, such as `SIGTERM (15)`.
  public var description: String {
    SystemSignal.name(of: rawValue).map { "\($0) (\(rawValue))" } ?? "\(rawValue)"
  }
}
