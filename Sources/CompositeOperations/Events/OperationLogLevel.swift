/// How much a line of a log matters.
public enum OperationLogLevel: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
  /// Every single step, for whoever follows one run closely.
  case trace
  /// What helps to find a fault.
  case debug
  /// What went as it should.
  case info
  /// What is out of the ordinary, and no fault.
  case notice
  /// What may become a fault, or was one that is dealt with.
  case warning
  /// A fault.
  case error
  /// A fault that concerns more than this flow.
  case critical

  public static func < (left: OperationLogLevel, right: OperationLogLevel) -> Bool {
    left.rawValue < right.rawValue
  }

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
