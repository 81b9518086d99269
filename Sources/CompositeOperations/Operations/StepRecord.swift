/// What is known of a finished step but its place, in one object: steps are copied more often than
/// they are made.
@usableFromInline protocol StepRecord: AnyObject, Sendable {
  var anyOperation: any ComposableOperation { get }
  var outcome: Outcome<any Sendable> { get }
  /// Whether the operation modifies another one.
  var isOfModifier: Bool { get }
}

/// A step that ended in a result.
// The type of the value is a parameter of its own, so that freeing a record looks up no metadata.
@usableFromInline
final class StepResult<Operation: ComposableOperation, Value: Sendable>: StepRecord {
  @usableFromInline let operation: Operation
  @usableFromInline let value: Value
  // Kept, because asking an operation whose type is not known takes longer than an empty step.
  @usableFromInline let isOfModifier: Bool

  @inlinable init(operation: Operation, value: Value) {
    self.operation = operation
    self.value = value
    isOfModifier = operation.modifiedOperation != nil
  }

  @usableFromInline var anyOperation: any ComposableOperation { operation }
  @usableFromInline var outcome: Outcome<any Sendable> { .result(value) }
}

/// A step that ended in an error or a cancellation.
final class StepLoss: StepRecord {
  let anyOperation: any ComposableOperation
  let isOfModifier = false
  private let error: (any Error)?

  init(operation: any ComposableOperation, error: (any Error)?) {
    anyOperation = operation
    self.error = error
  }

  var outcome: Outcome<any Sendable> { error.map(Outcome.error) ?? .cancelled }
}

extension ComposableOperation {
  @usableFromInline func isOrModifies(_ type: any ComposableOperation.Type) -> Bool {
    Self.self == type || modifiedOperation?.isOrModifies(type) == true
  }
}
