import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A composition whose events are looked at.
struct EventScene: Sendable, CustomTestStringConvertible {
  let name: String
  /// The paths of the runs that begin if nobody cancels, in alphabetical order. Nil where that
  /// depends on who is quick.
  let paths: [String]?
  /// Its outermost run is called `root`.
  let operation: @Sendable (Setting) -> AnyOperation<Void>

  init<Success: Sendable>(
    _ name: String, paths: [String]? = nil,
    _ operation: @escaping @Sendable (Setting) -> any ComposableOperation<Success>
  ) {
    self.name = name
    self.paths = paths
    self.operation = { setting in Self.root(operation(setting)) }
  }

  /// A run of an operation as a child of one that gives nothing, so that all scenes give the same.
  private static func root<Success: Sendable>(
    _ operation: any ComposableOperation<Success>
  ) -> AnyOperation<Void> {
    AnyOperation(AnyOperation(operation).map { _ in }.named("root"))
  }

  var testDescription: String { name }
}

extension Setting {
  /// Many orders of one worker, and all workers many times.
  static let many =
    (0..<24).map { Setting(suspends: $0 % 4 != 0, workers: .one(seed: $0)) }
    + (0..<12).map { Setting(suspends: $0 % 4 != 0, workers: .all) }

  /// What one worker tells is in the order in which it happened.
  var order: Oracle.Order {
    switch workers {
    case .one: .total
    case .all: .partial
    }
  }

  /// An operation that waits until it is cancelled.
  func waiting<Value: Sendable>(giving value: Value) -> SimpleOperation<Value> {
    SimpleOperation {
      try await Gate().pass()
      return value
    }
  }
}
