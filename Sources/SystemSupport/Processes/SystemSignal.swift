internal import Synchronization

/// The numbers and the names of signals, and the reactions of this process to them.
package enum SystemSignal {
  package static let hangUp = SIGHUP
  package static let interrupt = SIGINT
  package static let quit = SIGQUIT
  package static let kill = SIGKILL
  package static let user1 = SIGUSR1
  package static let user2 = SIGUSR2
  package static let brokenPipe = SIGPIPE
  package static let terminate = SIGTERM
  package static let `continue` = SIGCONT
  package static let stop = SIGSTOP
  package static let suspend = SIGTSTP

  /// Returns the name of a signal, such as `SIGTERM`; nil if it has none.
  package static func name(of signal: Int32) -> String? { names[signal] }

  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
    SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
    SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE",
    SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGCHLD: "SIGCHLD", SIGCONT: "SIGCONT",
    SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU",
    SIGURG: "SIGURG", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGVTALRM: "SIGVTALRM",
    SIGPROF: "SIGPROF", SIGWINCH: "SIGWINCH", SIGIO: "SIGIO", SIGSYS: "SIGSYS",
  ]

  /// Ignores a signal.
  package static func ignore(_ number: Int32) { _ = signal(number, SIG_IGN) }

  /// Restores the default reaction of the system to a signal.
  package static func restoreDefault(_ number: Int32) { _ = signal(number, SIG_DFL) }

  /// The descriptor that the signal handler writes to.
  private static let destination = Atomic<Int32>(-1)

  /// Writes the number of each received signal into a pipe, as one byte. A signal handler may do
  /// hardly anything else.
  ///
  /// A later call replaces the pipe of an earlier one.
  ///
  /// - Returns: Those of the signals that are handled from now on. The others stay ignored, because
  ///   the parent process ignores them, as shells do for background jobs, and `nohup`.
  package static func forward(_ signals: [Int32], to pipe: FileDescriptor) -> [Int32] {
    destination.store(pipe.rawValue, ordering: .releasing)
    return signals.filter { number in
      let previous = signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        unsafe write(SystemSignal.destination.load(ordering: .acquiring), &byte, 1)
      }
      let wasIgnored =
        unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
      if wasIgnored { ignore(number) }
      return !wasIgnored
    }
  }
}
