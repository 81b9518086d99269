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
/// Its description has a line for every failure, the first one first. A composite that was
/// cancelled, or whose children cancelled themselves, shows the same evidence on its event and on
/// its handle.
public struct ParallelOperationError: Error, Sendable {
  /// One child and how it ended.
  public struct Child: Sendable {
    /// The origin of an outcome.
    public enum Origin: Sendable {
      /// The child ended by itself.
      case itself
      /// The composite cancelled the child, because of another child or because it was cancelled
      /// itself.
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

  /// Whether neither a child nor the source failed: the children without a result cancelled
  /// themselves or were cancelled.
  // Stored: errors of sources can nest to any depth, and computing it would recurse through them.
  public let representsCancellation: Bool

  var shares: [Shares] = []

  init(evidence: any ChildOutcomes) {
    storedEvidence = StackSafe(evidence)
    representsCancellation =
      (evidence.sourceError?.meansCancellation ?? true) && !evidence.hasFailure
  }

  /// Every child, in the order of the list.
  public var children: Children { Children(evidence: evidence) }

  /// The children that ended in an error of their own, in the order in which they ended.
  public var failures: [Child] { evidence.failures.map(evidence.child) }

  /// The error of the source that the children came from, if it threw one.
  public var sourceError: (any Error)? { evidence.sourceError }

  /// Returns the typed outcomes of all children, in the order of the list.
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

  /// The children of a composite that ended, in order.
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
