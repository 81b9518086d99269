/// An operation that runs other operations in parallel and ends with the first result.
///
/// ```swift
/// let page = RaceOperation([FetchPage(mirrorA), FetchPage(mirrorB)])
/// ```
///
/// The first result cancels the other contenders, and the race ends when every contender that began
/// has ended. A contender that fails or cancels itself drops out; the others continue. Without a
/// result, the race ends in a ``ParallelOperationError`` with the outcome of every contender, or in
/// a cancellation if all of them cancelled themselves.
public struct RaceOperation<Success: Sendable>: ComposableOperation {
  // Not a `StackSafe`: looking up its metadata for existential values allocates.
  private final class Storage: Sendable {
    let contenders: ContiguousArray<any ComposableOperation<Success>>
    private let release = NestedRelease()

    init(_ contenders: [any ComposableOperation<Success>]) {
      self.contenders = ContiguousArray(contenders)
    }

    deinit { NestedRelease.begin(contenders) }
  }

  private let storage: Storage

  /// Creates a race between operations.
  ///
  /// - Parameter contenders: The operations, of any types with the same result type.
  /// - Precondition: `contenders` is not empty.
  public init(_ contenders: [any ComposableOperation<Success>]) {
    precondition(!contenders.isEmpty, "`contenders` must not be empty")
    storage = Storage(contenders)
  }

  /// Unavailable. All contenders have the same result type.
  // Without this and the next initializer, swiftc 6.3.1 has no diagnostic for a contender with
  // another result type: for this one if the race has a known result type, for the next one if not.
  @_disfavoredOverload
  @available(*, unavailable, message: "all contenders must have the same result type")
  public init(_ contenders: [any ComposableOperation]) { preconditionFailure("unavailable") }

  /// Unavailable. All contenders have the same result type.
  @_disfavoredOverload
  @available(*, unavailable, message: "all contenders must have the same result type")
  public init(_ contenders: [any ComposableOperation]) where Success == Never {
    preconditionFailure("unavailable")
  }

  public var operationName: String { "RaceOperation" }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    try await performHeld(in: context).value
  }

  @_documentation(visibility: internal)
  @concurrent public func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    // This check preserves the hop off the caller's actor, which a plain forward would lose.
    if Task.isCancelled { throw CancellationError() }
    let contenders = storage.contenders
    let run = ListRun<Success>(count: contenders.count, limit: .max, goal: .firstResult)
    await run.run(contenders, in: context)
    return try run.heldWinner { contenders[$0].operationName }
  }
}

extension RaceOperation: OutlineBearing {
  package var outline: OperationOutline { .parallel(Array(storage.contenders)) }
}

extension ListRun {
  /// Returns the first result and discards the values of the other contenders.
  ///
  /// - Throws: A ``ParallelOperationError`` if no contender ended in a result.
  fileprivate consuming func heldWinner(
    name: @escaping @Sendable (Int) -> String
  ) throws -> HeldResult<Value> {
    let runState = runState
    let outcomes = outcomes()
    guard let winner = runState.winner, case .result(let value) = outcomes[winner] else {
      throw ParallelOperationError(outcomes: outcomes, on: runState, name: name)
    }
    var losers = ListEvidence(outcomes, on: runState, name: name)
    let cleanup = losers.cleanups.removeValue(forKey: winner)
    losers.discardResults()
    for outcome in losers.typedOutcomes { outcome.error?.discardCarriedValues() }
    return HeldResult(value, cleanup: cleanup)
  }
}
