/// How the children of a parallel run ended: what a ``ParallelOperationError`` shows.
protocol ParallelEvidence: Sendable {
  var count: Int { get }
  func child(at index: Int) -> ParallelOperationError.Child

  /// The children that ended without a result of their own accord, the first in time first.
  var causes: [Int] { get }

  /// The error of the source of the children.
  var sourceError: (any Error)? { get }

  /// An array of every child's typed outcome.
  var outcomes: any Sendable { get }

  /// Gives up the results that the evidence holds, because nobody will see it.
  func discardValues()
}

/// The evidence of a run over a list.
struct ListEvidence<Value: Sendable>: ParallelEvidence {
  let typedOutcomes: [Outcome<Value>]
  let states: [ChildState]
  let causes: [Int]
  var disposals: [Int: Disposal]
  let name: @Sendable (Int) -> String

  init(
    _ outcomes: [Outcome<Value>], on board: ParallelBoard, name: @escaping @Sendable (Int) -> String
  ) {
    typedOutcomes = outcomes
    states = (0..<board.count).map(board.state)
    causes = board.causes
    disposals = board.disposals
    self.name = name
  }

  var count: Int { typedOutcomes.count }
  var outcomes: any Sendable { typedOutcomes }
  var sourceError: (any Error)? { nil }

  func child(at index: Int) -> ParallelOperationError.Child {
    ParallelOperationError.Child(
      index: index, name: name(index), outcome: typedOutcomes[index].map { $0 },
      origin: states[index].origin)
  }

  func discardValues() {
    disposals.disposeInOrder()
    for outcome in typedOutcomes { outcome.error?.discardCarriedValues() }
  }
}

extension ChildState {
  var origin: ParallelOperationError.Child.Origin {
    switch self {
    case .notBegun: .neverBegan
    case .result, .error, .cancelledItself: .itself
    case .lateResult, .cancelledWithComposite: .composite
    }
  }
}

extension ListRun {
  /// The results in the order of the children.
  ///
  /// - Throws: A ``ParallelOperationError`` if a child ended without one.
  @inlinable consuming func heldResults(
    name: @escaping @Sendable (Int) -> String
  ) throws -> HeldResult<[Value]> {
    let board = board
    if board.isComplete {
      return HeldResult(results(), disposal: board.holdsDisposals ? board.disposalOfAll : nil)
    }
    throw ParallelOperationError(outcomes: outcomes(), on: board, name: name)
  }
}

extension ParallelOperationError {
  /// The error of a run over a list.
  @usableFromInline init<Value: Sendable>(
    outcomes: [Outcome<Value>], on board: ParallelBoard, name: @escaping @Sendable (Int) -> String
  ) {
    self.init(evidence: ListEvidence(outcomes, on: board, name: name))
  }
}

extension ParallelBoard {
  /// What is to be done with everything that the children ended in if nobody will see it.
  @usableFromInline var disposalOfAll: Disposal? {
    let disposals = disposals
    let errors = errors.values.compactMap { $0 as? any ValueCarrying }
    if disposals.isEmpty, errors.isEmpty { return nil }
    return {
      disposals.disposeInOrder()
      for error in errors { error.discardCarriedValues() }
    }
  }
}
