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
/// Its description is a line for every failure, the one that came first in front. A composite that
/// was cancelled, or whose children cancelled themselves, shows the same evidence on its event and
/// on its handle.
public struct ParallelOperationError: Error, Sendable {
  /// One child and how it ended.
  public struct Child: Sendable {
    /// How an outcome came about.
    public enum Origin: Sendable {
      /// The child came to it by itself.
      case itself
      /// The composite cancelled the child, because of another child or because it was cancelled
      /// itself.
      case composite
      /// The composite stopped before the child had begun.
      case neverBegan
    }

    /// The child's place in the list, from 0.
    public let index: Int
    /// The child's name.
    public let name: String
    /// How the child ended; a child that never began is cancelled.
    public let outcome: Outcome<any Sendable>
    /// How that came about.
    public let origin: Origin
  }

  let evidence: any ParallelEvidence

  var disposalOfShare: Disposal?

  /// Every child, in the order of the list.
  public var children: Children { Children(evidence: evidence) }

  /// The children that ended in an error of their own, the first in time first.
  public var failures: [Child] {
    evidence.causes.map(evidence.child).filter { $0.outcome.error != nil }
  }

  /// The error of the source that the children came from, if it threw one.
  public var sourceError: (any Error)? { evidence.sourceError }

  /// Every child's outcome in the order of the list, with its type.
  ///
  /// - Parameter type: What a child gives.
  /// - Returns: Nil if the children give something else, or not all the same.
  public func outcomes<Value>(of type: Value.Type) -> [Outcome<Value>]? {
    if let outcomes = evidence.outcomes as? [Outcome<Value>] { return outcomes }
    // Of a tuple, whose children may give the same all the same.
    let outcomes = children.compactMap { child -> Outcome<Value>? in
      switch child.outcome {
      case .result(let value): (value as? Value).map(Outcome.result)
      case .error(let error): .error(error)
      case .cancelled: .cancelled
      }
    }
    return outcomes.count == children.count ? outcomes : nil
  }

  /// The children of a composite that ended, in order.
  public struct Children: RandomAccessCollection, Sendable {
    fileprivate let evidence: any ParallelEvidence

    public var startIndex: Int { 0 }
    public var endIndex: Int { evidence.count }
    public subscript(position: Int) -> Child { evidence.child(at: position) }
  }
}

extension ParallelOperationError.Child {
  fileprivate var label: String { "[\(index)] \(name)" }
}

extension ParallelOperationError: CancellationRepresenting {
  /// Whether neither a child nor the source failed: those that ended without a result cancelled
  /// themselves or were cancelled.
  public var representsCancellation: Bool {
    (sourceError?.meansCancellation ?? true) && failures.isEmpty
  }
}

extension ParallelOperationError: ValueCarrying {
  func discardValues() { evidence.discardValues() }
}

extension ParallelOperationError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    var branches = failures.map { child in
      ErrorBranch(label: child.label, cause: child.outcome.error.map { .error($0) } ?? .text(""))
    }
    if let sourceError {
      branches.append(
        ErrorBranch(label: "The source of the children", cause: .error(sourceError)))
    }
    if !branches.isEmpty { return branches }
    return children.filter { $0.origin == .itself && $0.outcome.isCancelled }.map { child in
      ErrorBranch(label: child.label, cause: .text("cancelled itself"))
    }
  }

  var aftermath: [String] {
    let stopped = children.filter { $0.origin == .itself && $0.outcome.isCancelled }.map(\.label)
    let cancelled = children.filter { $0.origin == .composite }
    // Where nothing failed they are the causes.
    let ofThemselves =
      stopped.isEmpty || failures.isEmpty
      ? []
      : [
        "\(stopped.count) cancelled \(stopped.count == 1 ? "itself" : "themselves") "
          + "(\(stopped.prefix(3).joined(separator: ", "))\(stopped.count > 3 ? ", …" : ""))"
      ]
    return ofThemselves
      + .aftermath(
        cancelled: cancelled.prefix(3).map(\.label), of: cancelled.count,
        unbegun: children.count { $0.origin == .neverBegan })
  }
}
