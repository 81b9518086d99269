/// A step of a sequence that has ended: what it was and how it ended.
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
  /// The step's place in the sequence, from 0.
  public let index: Int

  @inlinable init(_ record: StepRecord, at index: Int) {
    self.record = record
    self.index = index
  }

  /// A step that ended in a result.
  @inlinable init<Operation: ComposableOperation>(
    operation: Operation, result: Operation.Success, at index: Int
  ) {
    self.init(StepResult(operation: operation, value: result), at: index)
  }

  /// A step that ended otherwise.
  ///
  /// - Parameter error: Nil for a cancellation.
  @usableFromInline init(operation: any ComposableOperation, error: (any Error)?, at index: Int) {
    self.init(StepLoss(operation: operation, error: error), at: index)
  }

  /// A step that threw.
  @usableFromInline init(
    operation: any ComposableOperation, throwing error: any Error, wasCancelled: Bool, at index: Int
  ) {
    let end = RunEnd<Never>(throwing: error, wasCancelled: wasCancelled)
    self.init(operation: operation, error: end.outcomeDiscardingLate.error, at: index)
  }

  /// The step's operation.
  public var operation: any ComposableOperation { record.anyOperation }
  /// How the step ended.
  public var outcome: Outcome<any Sendable> { record.outcome }
  /// The name of the step's operation.
  public var name: String { operation.operationName }
  /// The error that the step ended in, or nil.
  public var error: (any Error)? { record.error }
  /// Whether the step ended in a cancellation.
  public var isCancelled: Bool { outcome.isCancelled }

  /// The step's result, if the step was an operation of this type and ended in a result.
  ///
  /// It sees through modifiers that keep the type of the value: `FetchUser().named("user")` is a
  /// `FetchUser` here.
  @inlinable public func result<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    if Swift.type(of: record) == StepResult<Step, Step.Success>.self {
      // The types are the same. A dynamic cast takes longer than an empty step.
      return unsafe unsafeDowncast(record, to: StepResult<Step, Step.Success>.self).value
    }
    return record.isOfModifier && operation.isOrModifies(type) ? result(as: Step.Success.self) : nil
  }

  /// The step's result, if it ended in a result of this type, whatever its operation was.
  public func result<Value>(as type: Value.Type) -> Value? {
    guard case .result(let value) = outcome else { return nil }
    return value as? Value
  }
}

extension FinishedStep: CustomStringConvertible {
  /// The step's place, its name and how it ended: `0 FetchUser: result(octocat)`.
  public var description: String { description(levels: 64) }

  func description(levels: Int) -> String {
    guard let steps = result(as: FinishedSteps.self) else { return "\(index) \(name): \(outcome)" }
    return "\(index) \(name): result(\(steps.description(levels: levels - 1)))"
  }
}
