/// How the children of a parallel run ended: the content of a ``ParallelOperationError``.
///
/// A position is an index into the children that the error contains. ``name(at:)`` runs user code;
/// the other requirements do not, and take constant time.
protocol ChildOutcomes: Sendable {
  var count: Int { get }

  /// The index of a child in the list of the composite.
  func index(at position: Int) -> Int

  /// The name of a child, computed by its operation.
  func name(at position: Int) -> String

  func outcome(at position: Int) -> Outcome<any Sendable>
  func error(at position: Int) -> (any Error)?
  func isCancelled(at position: Int) -> Bool
  func origin(at position: Int) -> ParallelOperationError.Child.Origin

  /// The positions of the children that failed or cancelled themselves, in the order in which they
  /// ended.
  var causes: [Int] { get }

  /// The error of the sequence that creates the children; nil if it threw none.
  var sourceError: (any Error)? { get }

  /// An array of the typed outcomes of all children.
  var outcomes: any Sendable { get }

  /// Discards the results of the children. Called if no caller receives the error.
  func discardResults()

  /// The errors of the children.
  var errors: [any Error] { get }
}

extension ChildOutcomes {
  func child(at position: Int) -> ParallelOperationError.Child {
    ParallelOperationError.Child(
      index: index(at: position), name: name(at: position), outcome: outcome(at: position),
      origin: origin(at: position))
  }

  /// The index and the name of a child, for descriptions.
  func label(at position: Int) -> String { "[\(index(at: position))] \(name(at: position))" }

  /// The positions of the children that failed, in the order in which they ended.
  var failures: [Int] { causes.filter { error(at: $0) != nil } }

  var hasFailure: Bool { causes.contains { error(at: $0) != nil } }
}

/// How the children of a list ended.
struct ListEvidence<Value: Sendable>: ChildOutcomes {
  let typedOutcomes: [Outcome<Value>]
  let states: [ChildState]
  let causes: [Int]
  var cleanups: [Int: Cleanup]
  private let makeName: @Sendable (Int) -> String

  init(
    _ outcomes: [Outcome<Value>], on runState: ListRunState,
    name: @escaping @Sendable (Int) -> String
  ) {
    typedOutcomes = outcomes
    states = (0..<runState.count).map(runState.state)
    causes = runState.causes
    cleanups = runState.cleanups
    makeName = name
  }

  var count: Int { typedOutcomes.count }
  var outcomes: any Sendable { typedOutcomes }
  var sourceError: (any Error)? { nil }

  func index(at position: Int) -> Int { position }
  func name(at position: Int) -> String { makeName(position) }
  func outcome(at position: Int) -> Outcome<any Sendable> { typedOutcomes[position].map { $0 } }
  func error(at position: Int) -> (any Error)? { typedOutcomes[position].error }
  func isCancelled(at position: Int) -> Bool { typedOutcomes[position].isCancelled }

  func origin(at position: Int) -> ParallelOperationError.Child.Origin {
    states[position].origin
  }

  func discardResults() { cleanups.runInOrder() }
  var errors: [any Error] { typedOutcomes.compactMap { $0.error } }
}

extension ChildState {
  var origin: ParallelOperationError.Child.Origin {
    switch self {
    case .notBegun, .withoutInput: .neverBegan
    case .result, .error, .cancelledItself: .itself
    case .lateResult, .cancelledWithComposite: .composite
    }
  }
}

extension ListRun {
  /// Returns the results in the order of the children.
  ///
  /// - Throws: A ``ParallelOperationError`` if a child ended without one.
  @inlinable consuming func heldResults(
    name: @escaping @Sendable (Int) -> String
  ) throws -> HeldResult<[Value]> {
    let runState = runState
    if runState.isComplete {
      return HeldResult(results(), cleanup: runState.holdsCleanups ? runState.cleanupOfAll : nil)
    }
    throw ParallelOperationError(outcomes: outcomes(), on: runState, name: name)
  }
}

extension ParallelOperationError {
  /// Creates the error of a run over a list.
  @usableFromInline init<Value: Sendable>(
    outcomes: [Outcome<Value>], on runState: ListRunState,
    name: @escaping @Sendable (Int) -> String
  ) {
    self.init(evidence: ListEvidence(outcomes, on: runState, name: name))
  }
}

extension ListRunState {
  /// Discards the values and errors of all children; nil if there is nothing to discard.
  @usableFromInline var cleanupOfAll: Cleanup? {
    cleanup(ofAll: cleanups, and: Array(errors.values))
  }
}
