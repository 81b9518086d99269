import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A composition whose events are checked.
struct EventScene: Sendable, CustomTestStringConvertible {
  let name: String
  /// The paths of the runs that begin without a cancellation, in alphabetical order; nil if they
  /// depend on timing.
  let paths: [String]?
  /// Creates the composition; its outermost run is named `root`.
  let operation: @Sendable (Setting) -> AnyOperation<Void>

  init<Success: Sendable>(
    _ name: String, paths: [String]? = nil,
    _ operation: @escaping @Sendable (Setting) -> any ComposableOperation<Success>
  ) {
    self.name = name
    self.paths = paths
    self.operation = { setting in Self.root(operation(setting)) }
  }

  /// Returns an operation named `root` that runs an operation as a child, without its result, so
  /// that all scenarios have the same result type.
  private static func root<Success: Sendable>(
    _ operation: any ComposableOperation<Success>
  ) -> AnyOperation<Void> {
    AnyOperation(AnyOperation(operation).map { _ in }.named("root"))
  }

  var testDescription: String { name }
}

extension Setting {
  /// Many schedules of one worker, and many runs on all workers.
  static let many =
    (0..<24).map { Setting(suspends: $0 % 4 != 0, workers: .one(seed: $0)) }
    + (0..<12).map { Setting(suspends: $0 % 4 != 0, workers: .all) }

  /// The order of events: total on one worker, partial on several.
  var order: Oracle.Order {
    switch workers {
    case .one: .total
    case .all: .partial
    }
  }

  /// Returns an operation that waits until it is cancelled.
  func waiting<Value: Sendable>(giving value: Value) -> SimpleOperation<Value> {
    SimpleOperation {
      try await Gate().pass()
      return value
    }
  }
}
