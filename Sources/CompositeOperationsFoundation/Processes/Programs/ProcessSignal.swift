#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

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
  public static let terminate = ProcessSignal(rawValue: SIGTERM)
  /// SIGKILL: ends a process by force.
  public static let kill = ProcessSignal(rawValue: SIGKILL)
  /// SIGINT: sent by Ctrl-C.
  public static let interrupt = ProcessSignal(rawValue: SIGINT)
  /// SIGQUIT: sent by Ctrl-\.
  public static let quit = ProcessSignal(rawValue: SIGQUIT)
  /// SIGHUP: the terminal was closed. Services reload their settings.
  public static let hangUp = ProcessSignal(rawValue: SIGHUP)
  /// SIGSTOP: suspends a process.
  public static let stop = ProcessSignal(rawValue: SIGSTOP)
  /// SIGCONT: resumes a suspended process.
  public static let goOn = ProcessSignal(rawValue: SIGCONT)
  /// SIGUSR1: defined by the program.
  public static let user1 = ProcessSignal(rawValue: SIGUSR1)
  /// SIGUSR2: defined by the program.
  public static let user2 = ProcessSignal(rawValue: SIGUSR2)

  /// The name and the number, such as `SIGTERM (15)`.
  public var description: String {
    Self.names[rawValue].map { "\($0) (\(rawValue))" } ?? "\(rawValue)"
  }

  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
    SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE",
    SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGCHLD: "SIGCHLD", SIGCONT: "SIGCONT",
    SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU",
    SIGURG: "SIGURG", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGVTALRM: "SIGVTALRM",
    SIGPROF: "SIGPROF", SIGWINCH: "SIGWINCH", SIGIO: "SIGIO", SIGSYS: "SIGSYS",
  ]
}
