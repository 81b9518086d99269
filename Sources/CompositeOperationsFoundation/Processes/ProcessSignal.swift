#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A signal, by its number.
public struct ProcessSignal: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM: end, in order.
  public static let terminate = ProcessSignal(rawValue: SIGTERM)
  /// SIGKILL: ends whoever gets it.
  public static let kill = ProcessSignal(rawValue: SIGKILL)
  /// SIGINT: what Ctrl-C sends.
  public static let interrupt = ProcessSignal(rawValue: SIGINT)
  /// SIGQUIT: what Ctrl-\ sends.
  public static let quit = ProcessSignal(rawValue: SIGQUIT)
  /// SIGHUP: the terminal is gone; services read their settings again.
  public static let hangUp = ProcessSignal(rawValue: SIGHUP)
  /// SIGSTOP: stops whoever gets it.
  public static let stop = ProcessSignal(rawValue: SIGSTOP)
  /// SIGCONT: goes on after a stop.
  public static let goOn = ProcessSignal(rawValue: SIGCONT)
  /// SIGUSR1: what the program makes of it.
  public static let user1 = ProcessSignal(rawValue: SIGUSR1)
  /// SIGUSR2: what the program makes of it.
  public static let user2 = ProcessSignal(rawValue: SIGUSR2)

  /// Such as `SIGTERM (15)`.
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
