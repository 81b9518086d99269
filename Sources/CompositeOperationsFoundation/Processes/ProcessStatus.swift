/// How a program ended.
public enum ProcessStatus: Sendable, Hashable, CustomStringConvertible {
  /// By itself, with a status from 0 to 255.
  case exited(Int32)
  /// By a signal.
  case signalled(ProcessSignal)

  public var description: String {
    switch self {
    case .exited(let code): "exit status \(code)"
    case .signalled(let signal): "signal \(signal)"
    }
  }
}
