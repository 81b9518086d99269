/// The severity of a log message.
public enum OperationLogLevel: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
  /// Every single step of a run.
  case trace
  /// Information that helps to find a fault.
  case debug
  /// Information about normal operation.
  case info
  /// An unusual condition that is not a fault.
  case notice
  /// A condition that can become a fault, or a fault that has been handled.
  case warning
  /// A fault.
  case error
  /// A fault that affects more than this flow.
  case critical

  public static func < (left: OperationLogLevel, right: OperationLogLevel) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The name of the level, such as `warning`.
  public var description: String {
    switch self {
    case .trace: "trace"
    case .debug: "debug"
    case .info: "info"
    case .notice: "notice"
    case .warning: "warning"
    case .error: "error"
    case .critical: "critical"
    }
  }
}
