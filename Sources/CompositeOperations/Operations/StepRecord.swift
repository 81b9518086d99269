/// What is known of a finished step, in one object: steps are copied more often than they are made.
@usableFromInline protocol StepRecord: AnyObject, Sendable {
  var index: Int { get }
  var anyOperation: any ComposableOperation { get }
  var outcome: Outcome<any Sendable> { get }

  /// Whether the operation modifies one of this type.
  func modifies(_ type: any ComposableOperation.Type) -> Bool
}

/// A step that ended in a result.
// The type of the value is a parameter of its own, so that freeing a record looks up no metadata.
@usableFromInline
final class StepResult<Operation: ComposableOperation, Value: Sendable>:
  StepRecord
{
  @usableFromInline let operation: Operation
  @usableFromInline let value: Value
  @usableFromInline let index: Int

  @inlinable init(operation: Operation, value: Value, index: Int) {
    self.operation = operation
    self.value = value
    self.index = index
  }

  @usableFromInline var anyOperation: any ComposableOperation { operation }
  @usableFromInline var outcome: Outcome<any Sendable> { .result(value) }

  @inlinable func modifies(_ type: any ComposableOperation.Type) -> Bool {
    operation.modifiedOperation?.isOrModifies(type) ?? false
  }
}

/// A step that ended in an error or a cancellation.
final class StepLoss: StepRecord {
  let anyOperation: any ComposableOperation
  private let error: (any Error)?
  let index: Int

  init(operation: any ComposableOperation, error: (any Error)?, index: Int) {
    anyOperation = operation
    self.error = error
    self.index = index
  }

  var outcome: Outcome<any Sendable> { error.map(Outcome.error) ?? .cancelled }

  func modifies(_ type: any ComposableOperation.Type) -> Bool { false }
}

extension ComposableOperation {
  @usableFromInline func isOrModifies(_ type: any ComposableOperation.Type) -> Bool {
    Self.self == type || modifiedOperation?.isOrModifies(type) == true
  }
}
