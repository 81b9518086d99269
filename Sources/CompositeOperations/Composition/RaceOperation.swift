/// Runs operations side by side and ends with the first result; the others are cancelled.
///
/// ```swift
/// let page = RaceOperation([FetchPage(mirrorA), FetchPage(mirrorB)])
/// ```
///
/// The race ends when every contender that began has ended. A contender that fails or cancels
/// itself is out; the others run on. If nobody comes to a result, the race ends in a
/// ``ParallelOperationError`` with every contender's outcome, or, if all of them cancelled
/// themselves, in a cancellation.
public struct RaceOperation<Success: Sendable>: ComposableOperation {
  // Not a `StackSafe`: looking up the metadata of one that holds existential values allocates.
  private final class Storage: Sendable {
    let contenders: ContiguousArray<any ComposableOperation<Success>>
    private let release = NestedRelease()

    init(_ contenders: [any ComposableOperation<Success>]) {
      self.contenders = ContiguousArray(contenders)
    }

    deinit { NestedRelease.begin(contenders) }
  }

  private let storage: Storage

  /// - Parameter contenders: The operations, of any types that give the same.
  /// - Precondition: There is at least one contender.
  public init(_ contenders: [any ComposableOperation<Success>]) {
    precondition(!contenders.isEmpty, "`contenders` must not be empty")
    storage = Storage(contenders)
  }

  public var operationName: String { "RaceOperation" }

  public nonisolated(nonsending) func perform(
    in context: OperationContext
  ) async throws -> Success {
    try await performHeld(in: context).value
  }

  @concurrent public func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    // The question keeps the hop off the caller's actor, which a mere forward would lose.
    if Task.isCancelled { throw CancellationError() }
    let contenders = storage.contenders
    let run = ListRun<Success>(count: contenders.count, limit: .max, goal: .firstResult)
    await run.run(contenders, in: context)
    return try run.heldWinner { contenders[$0].operationName }
  }
}

extension RaceOperation: OutlineBearing {
  var outline: OperationOutline { .parallel(Array(storage.contenders)) }
}

extension ListRun {
  /// The result that came first. What the other contenders came to is given up.
  ///
  /// - Throws: A ``ParallelOperationError`` if nobody came to a result.
  fileprivate consuming func heldWinner(
    name: @escaping @Sendable (Int) -> String
  ) throws -> HeldResult<Value> {
    let board = board
    let outcomes = outcomes()
    guard let winner = board.winner, case .result(let value) = outcomes[winner] else {
      throw ParallelOperationError(outcomes: outcomes, on: board, name: name)
    }
    var losers = ListEvidence(outcomes, on: board, name: name)
    let disposal = losers.disposals.removeValue(forKey: winner)
    losers.discardResults()
    for outcome in losers.typedOutcomes { outcome.error?.discardCarriedValues() }
    return HeldResult(value, disposal: disposal)
  }
}
