/// A step of a sequence that has ended: what it was and how it ended.
///
/// ```swift
/// mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
///   guard let previous else { return FetchRepositories(user: user) }
///   if let repositories = previous.result(of: FetchRepositories.self) {
///     return ParallelOperation(repositories.map { FetchIssues(repository: $0) })
///   }
///   return nil
/// }
/// ```
public struct FinishedStep: Sendable {
  /// The step's operation.
  public let operation: any ComposableOperation
  /// How the step ended.
  public let outcome: Outcome<any Sendable>
  // Small, and where the other fields leave room: a sequence may keep millions of steps.
  @usableFromInline let place: UInt32

  @inlinable init(
    operation: any ComposableOperation, outcome: Outcome<any Sendable>, at index: Int
  ) {
    self.operation = operation
    self.outcome = outcome
    place = UInt32(truncatingIfNeeded: index)
  }

  /// The step's place in the sequence, from 0.
  public var index: Int { Int(place) }
  /// The name of the step's operation.
  public var name: String { operation.operationName }
  /// The error that the step ended in, or nil.
  public var error: (any Error)? { outcome.error }
  /// Whether the step ended in a cancellation.
  public var isCancelled: Bool { outcome.isCancelled }

  /// The step's result, if the step was an operation of this type and ended in a result.
  ///
  /// It sees through modifiers that keep the type of the value: `FetchUser().named("user")` is a
  /// `FetchUser` here.
  @inlinable public func result<Step: ComposableOperation>(of type: Step.Type) -> Step.Success? {
    guard case .result(let value) = outcome else { return nil }
    if Swift.type(of: operation) == type { return cast(value) }
    return isModified(type) ? cast(value) : nil
  }

  /// The value as what it is known to be. A dynamic cast takes longer than an empty step.
  @inlinable func cast<Value, Target>(_ value: Value) -> Target? {
    // The types are the same, so this is the identity.
    Value.self == Target.self ? unsafe unsafeBitCast(value, to: Target.self) : value as? Target
  }

  /// Whether the operation modifies one of this type.
  @usableFromInline func isModified(_ type: any ComposableOperation.Type) -> Bool {
    var operation = operation.modifiedOperation
    while let modified = operation {
      if Swift.type(of: modified) == type { return true }
      operation = modified.modifiedOperation
    }
    return false
  }

  /// The step's result, if it ended in a result of this type, whatever its operation was.
  public func result<Value>(as type: Value.Type) -> Value? {
    guard case .result(let value) = outcome else { return nil }
    return value as? Value
  }
}
