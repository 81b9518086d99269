/// The error of a parallel composite or a race: how every child ended, in order.
///
/// ```swift
/// do {
///   show(try await ParallelOperation(repositories.map(FetchIssues.init)).run().get())
/// } catch let error as ParallelOperationError {
///   for child in error.failures { print("\(child.name) failed: \(child.outcome)") }
///   let fetched = error.outcomes(of: [Issue].self)?.compactMap(\.result)
/// }
/// ```
///
/// Its description has a line for every failure, in chronological order.
///
/// A composite that was cancelled, or whose children cancelled themselves, has the outcome
/// ``Outcome/cancelled``, which contains no error. The error that shows how its children ended is
/// in ``OperationRun/lateOutcome``, the outcome that a cancelled run would have had otherwise, and
/// in the event ``OperationEvent/Kind/ended(_:lateOutcome:)``.
public struct ParallelOperationError: Error, Sendable {
  /// One child and how it ended.
  public struct Child: Sendable {
    /// The origin of an outcome.
    public enum Origin: Sendable {
      /// The child ended by itself.
      case itself
      /// The composite cancelled the child, because of another child or because the composite was
      /// cancelled.
      case composite
      /// The composite stopped before the child had begun.
      case neverBegan
    }

    /// The index of the child in the list, from 0.
    public let index: Int
    /// The name of the child.
    public let name: String
    /// How the child ended; a child that never began is cancelled.
    public let outcome: Outcome<any Sendable>
    /// The origin of the outcome.
    public let origin: Origin
  }

  private let storedEvidence: StackSafe<any ChildOutcomes>
  private var evidence: any ChildOutcomes { storedEvidence.value }

  /// Whether this error represents a cancellation: no child failed, and the sequence that creates
  /// the children did not fail either.
  // Stored: errors of sources can nest to any depth, and computing it would recurse through them.
  public let representsCancellation: Bool

  var shares: [Shares] = []

  init(evidence: any ChildOutcomes) {
    storedEvidence = StackSafe(evidence)
    representsCancellation =
      (evidence.sourceError?.meansCancellation ?? true) && !evidence.hasFailure
  }

  /// The children, in order.
  ///
  /// For a composite that was created from a list, these are all children, even if they never
  /// began. For other composites, these are the children that began. If a closure consumes the
  /// results, children that ended in a result are not included.
  public var children: Children { Children(evidence: evidence) }

  /// The children that failed, in the order in which they ended. Children that were cancelled are
  /// not included.
  public var failures: [Child] { evidence.failures.map(evidence.child) }

  /// The error of the sequence that creates the children; nil if it threw none.
  public var sourceError: (any Error)? { evidence.sourceError }

  /// Returns the typed outcomes of ``children``, in the same order.
  ///
  /// - Parameter type: The result type of the children.
  /// - Returns: Nil if a child has another result type.
  public func outcomes<Value>(of type: Value.Type) -> [Outcome<Value>]? {
    if let outcomes = evidence.outcomes as? [Outcome<Value>] { return outcomes }
    // The children of a tuple may nevertheless have the same result type.
    let outcomes = (0..<evidence.count).compactMap { position -> Outcome<Value>? in
      switch evidence.outcome(at: position) {
      case .result(let value): (value as? Value).map(Outcome.result)
      case .error(let error): .error(error)
      case .cancelled: .cancelled
      }
    }
    return outcomes.count == evidence.count ? outcomes : nil
  }

  /// A collection of the children of a composite, in order.
  public struct Children: RandomAccessCollection, Sendable {
    fileprivate let evidence: any ChildOutcomes

    public var startIndex: Int { 0 }
    public var endIndex: Int { evidence.count }
    public subscript(position: Int) -> Child { evidence.child(at: position) }
  }
}

extension ParallelOperationError: CancellationRepresenting {}

extension ParallelOperationError: ValueCarrying {
  func discardOwnValues() { evidence.discardResults() }
  var carriedErrors: [any Error] { evidence.errors }
}

extension ParallelOperationError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    var branches = evidence.failures.map { position in
      ErrorBranch(
        label: evidence.label(at: position),
        cause: evidence.error(at: position).map { .error($0) } ?? .text(""))
    }
    if let sourceError {
      branches.append(
        ErrorBranch(label: "source of the children", cause: .error(sourceError)))
    }
    if !branches.isEmpty { return branches }
    return (0..<evidence.count).filter(cancelledItself).map { position in
      ErrorBranch(label: evidence.label(at: position), cause: .text("cancelled itself"))
    }
  }

  package var aftermath: [String] {
    var (stopped, cancelled, unbegun) = (Examples(), Examples(), 0)
    for position in 0..<evidence.count {
      switch evidence.origin(at: position) {
      case .itself: if cancelledItself(position) { stopped.add(position) }
      case .composite: cancelled.add(position)
      case .neverBegan: unbegun += 1
      }
    }
    // If nothing failed, they are the causes.
    let ofThemselves =
      stopped.count == 0 || !evidence.hasFailure
      ? []
      : [
        "\(stopped.count) cancelled \(stopped.count == 1 ? "itself" : "themselves") "
          + "(\(stopped.list(named: evidence.label)))"
      ]
    return ofThemselves + .aftermath(of: cancelled, named: evidence.label, unbegun: unbegun)
  }

  private func cancelledItself(_ position: Int) -> Bool {
    evidence.origin(at: position) == .itself && evidence.isCancelled(at: position)
  }
}
