/// The status and the output of a program that has ended.
public struct ProcessResult: Sendable, Hashable {
  /// How the program ended.
  public let status: ProcessStatus
  /// The kept part of standard output.
  public let output: ProcessOutput
  /// The kept part of standard error.
  public let errorOutput: ProcessOutput
  /// Whether this process sent a signal to the program while it was running, other than SIGSTOP and
  /// SIGCONT. The status then does not show whether the program did its work.
  package let wasSignalled: Bool
}

/// How a program ended.
public enum ProcessStatus: Sendable, Hashable, CustomStringConvertible {
  /// The program exited by itself, with a status from 0 to 255.
  case exited(Int32)
  /// A signal ended the program.
  case signalled(ProcessSignal)

  /// The status, such as `exit status 1`.
  public var description: String {
    switch self {
    case .exited(let code): "exit status \(code)"
    case .signalled(let signal): "signal \(signal)"
    }
  }
}
