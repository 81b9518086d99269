/// A finished step without its index, in one object: steps are copied more often than created.
// A class instead of a protocol, because a reference takes one word, and a history has many.
// Unchecked, because a class with subclasses cannot be checked: both subclasses are below, and all
// stored properties are constant and sendable.
@usableFromInline class StepRecord: @unchecked Sendable {
  /// Whether the operation modifies another one.
  // Stored, because querying an operation of unknown type takes longer than an empty step.
  @usableFromInline let isOfModifier: Bool

  @usableFromInline init(isOfModifier: Bool) { self.isOfModifier = isOfModifier }

  @usableFromInline var anyOperation: any ComposableOperation { preconditionFailure() }
  @usableFromInline var outcome: Outcome<any Sendable> { preconditionFailure() }
  /// The error of the step, without a copy of its result.
  @usableFromInline var error: (any Error)? { nil }
}

/// A step that ended in a result.
// The type of the value is a separate parameter, so that freeing a record looks up no metadata.
@usableFromInline
final class StepResult<Operation: ComposableOperation, Value: Sendable>: StepRecord,
  @unchecked Sendable
{
  @usableFromInline let operation: Operation
  @usableFromInline let value: Value

  @inlinable init(operation: Operation, value: Value) {
    self.operation = operation
    self.value = value
    super.init(isOfModifier: operation.modifiedOperation != nil)
  }

  @usableFromInline override var anyOperation: any ComposableOperation { operation }
  @usableFromInline override var outcome: Outcome<any Sendable> { .result(value) }
}

/// A step that ended in an error or a cancellation.
final class StepLoss: StepRecord, @unchecked Sendable {
  private let operation: any ComposableOperation
  private let ownError: (any Error)?

  init(operation: any ComposableOperation, error: (any Error)?) {
    self.operation = operation
    ownError = error
    super.init(isOfModifier: false)
  }

  override var anyOperation: any ComposableOperation { operation }
  override var outcome: Outcome<any Sendable> { ownError.map(Outcome.error) ?? .cancelled }
  override var error: (any Error)? { ownError }
}

extension ComposableOperation {
  @usableFromInline func isOrModifies(_ type: any ComposableOperation.Type) -> Bool {
    var next: (any ComposableOperation)? = self
    while let current = next {
      if Swift.type(of: current) == type { return true }
      next = current.modifiedOperation
    }
    return false
  }
}
