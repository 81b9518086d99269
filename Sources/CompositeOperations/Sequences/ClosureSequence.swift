/// A sequence whose steps are decided by a closure, with or without state.
///
/// ```swift
/// let flow = SequentialOperation(ClosureSequence(state: 0) { failures, previous in
///   if previous?.error != nil { failures += 1 }
///   return failures < 3 ? Poll() : nil
/// })
/// ```
public struct ClosureSequence<State: Sendable>: OperationSequence {
  /// A closure that returns the next step, or nil to end the sequence.
  public typealias Decision =
    nonisolated(nonsending) @Sendable (inout State, FinishedStep?) async throws
    -> (any ComposableOperation)?

  // Not a `StackSafe`: a closure stored as a generic value is called through a thunk, at every
  // step.
  @usableFromInline final class Storage: Sendable {
    @usableFromInline let decide: Decision
    @usableFromInline let release = NestedRelease()

    @inlinable init(_ decide: @escaping Decision) { self.decide = decide }

    deinit { NestedRelease.begin(decide) }
  }

  @usableFromInline var state: State
  @usableFromInline let storage: Storage
  public let history: StepHistory

  /// Creates a sequence from a closure with state.
  ///
  /// - Parameters:
  ///   - state: The initial state. Every run begins with a copy of it.
  ///   - history: How many finished steps are kept.
  ///   - decide: Returns the next step, or nil to end the sequence.
  @inlinable public init(
    state: State, history: StepHistory = .all, deciding decide: @escaping Decision
  ) {
    self.state = state
    self.history = history
    storage = Storage(decide)
  }

  @inlinable public mutating func nextOperation(
    after previous: FinishedStep?
  ) async throws -> (any ComposableOperation)? {
    try await storage.decide(&state, previous)
  }
}

extension ClosureSequence where State == Void {
  /// Creates a sequence from a closure without state.
  ///
  /// - Parameters:
  ///   - history: How many finished steps are kept.
  ///   - decide: Returns the next step, or nil to end the sequence.
  public init(
    history: StepHistory = .all,
    deciding decide:
      nonisolated(nonsending) @escaping @Sendable (FinishedStep?) async throws
      -> (any ComposableOperation)?
  ) {
    self.init(state: (), history: history) { _, previous in try await decide(previous) }
  }
}
