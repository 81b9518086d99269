/// A finished step of a sequence: its operation and its outcome.
///
/// ```swift
/// let flow = ClosureSequence { previous in
///   guard let previous else { return FetchRepositories(user: "octocat") }
///   if let repositories = previous.result(of: FetchRepositories.self) {
///     return ParallelOperation(repositories.map { FetchIssues(repository: $0) })
///   }
///   return nil
/// }
/// ```
public struct FinishedStep: Sendable {
  @usableFromInline let record: StepRecord
  /// The index of the step in the sequence, from 0.
  public let index: Int

  @inlinable init(_ record: StepRecord, at index: Int) {
    self.record = record
    self.index = index
  }

  /// Creates a step that ended in a result.
  @inlinable init<Operation: ComposableOperation>(
    operation: Operation, result: Operation.Success, at index: Int
  ) {
    self.init(StepResult(operation: operation, value: result), at: index)
  }

  /// Creates a step that ended in an error or a cancellation.
  ///
  /// - Parameter error: Nil for a cancellation.
  @usableFromInline init(operation: any ComposableOperation, error: (any Error)?, at index: Int) {
    self.init(StepLoss(operation: operation, error: error), at: index)
  }

  /// Creates a step whose operation threw.
  @usableFromInline init(
    operation: any ComposableOperation, throwing error: any Error, wasCancelled: Bool, at index: Int
  ) {
    let completion = Completion<Never>.error(error, wasCancelled: wasCancelled)
    self.init(operation: operation, error: completion.outcomeDiscardingLate.error, at: index)
  }

  /// The operation of the step.
  public var operation: any ComposableOperation { record.anyOperation }
  /// How the step ended.
  public var outcome: Outcome<any Sendable> { record.outcome }
  /// The name of the operation.
  public var name: String { operation.operationName }
  /// The error that the step ended in, or nil.
  public var error: (any Error)? { record.error }
  /// Whether the step ended in a cancellation.
  public var isCancelled: Bool { outcome.isCancelled }

  /// Returns the result of the step if its operation is of this type.
  ///
  /// Modifiers that keep the type of the result are ignored: `FetchUser().named("user")` counts as
  /// a `FetchUser`.
  ///
  /// - Parameter type: The type of the operation.
  /// - Returns: Nil if the operation is of another type or did not end in a result.
  @inlinable public func result<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    if Swift.type(of: record) == StepResult<Step, Step.Success>.self {
      // The types are identical, and a dynamic cast would take longer than an empty step.
      return unsafe unsafeDowncast(record, to: StepResult<Step, Step.Success>.self).value
    }
    return record.isIndirect ? indirectResult(of: type) : nil
  }

  /// Returns the result of a step whose record has another type.
  @usableFromInline func indirectResult<Step: ComposableOperation>(
    of type: Step.Type
  ) -> Step.Success? {
    if let journaled = record as? JournaledStep { return journaled.value(of: type) }
    return operation.isOrModifies(type) ? result(as: Step.Success.self) : nil
  }

  /// Returns the result of the step if it is of this type, whatever the operation.
  ///
  /// - Parameter type: The type of the result.
  /// - Returns: Nil if the result is of another type or the step did not end in a result.
  public func result<Value>(as type: Value.Type) -> Value? {
    if let journaled = record as? JournaledStep { return journaled.value(as: type) }
    guard case .result(let value) = outcome else { return nil }
    return value as? Value
  }
}

extension FinishedStep: CustomStringConvertible {
  /// The index, the name and the outcome of the step: `0 FetchUser: result(octocat)`.
  public var description: String { description(levels: 64) }

  func description(levels: Int) -> String {
    guard let steps = result(as: FinishedSteps.self) else { return "\(index) \(name): \(outcome)" }
    return "\(index) \(name): result(\(steps.description(levels: levels - 1)))"
  }
}

/// A finished step without its index, in one object: steps are copied more often than created.
// A class instead of a protocol, because a reference takes one word, and a history has many.
// Unchecked, because a class with subclasses cannot be checked: both subclasses are below, and all
// stored properties are constant and sendable.
@usableFromInline class StepRecord: @unchecked Sendable {
  /// Whether the result of a type is found by other means than the type of the record: the
  /// operation modifies another one, or the step is a journaled one.
  // Stored, because querying an operation of unknown type takes longer than an empty step.
  @usableFromInline let isIndirect: Bool

  @usableFromInline init(isIndirect: Bool) { self.isIndirect = isIndirect }

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
    super.init(isIndirect: operation.modifiedOperation != nil)
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
    super.init(isIndirect: false)
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
