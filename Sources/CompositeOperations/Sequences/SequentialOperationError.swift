/// The error of a sequential composite: its cause, and the finished steps.
///
/// Its description has a line for each failed step. A cancelled composite shows its steps in the
/// same way on its event and on its handle.
public struct SequentialOperationError: Error, Sendable {
  /// The error that ended the composite: of the last step, or of the sequence. Nil for a composite
  /// that was cancelled while its sequence threw nothing.
  public var cause: (any Error)? { content.value.cause }

  /// The finished steps, in order, as many as the history of the sequence keeps.
  public var steps: FinishedSteps { content.value.steps }

  private struct Content: Sendable {
    let cause: (any Error)?
    let steps: FinishedSteps
  }

  private let content: StackSafe<Content>

  /// Whether nothing failed: the composite was cancelled, or its last step or its sequence
  /// cancelled it.
  // Stored: a cause may be the error of another sequential composite, nested to any depth.
  public let representsCancellation: Bool

  /// Whether the cause is the error of the last step, which shows it.
  private let isCauseOfStep: Bool

  var shares: [Shares] = []

  package init(cause: (any Error)?, from origin: CauseOrigin, steps: FinishedSteps) {
    content = StackSafe(Content(cause: cause, steps: steps))
    representsCancellation = cause?.meansCancellation ?? true
    isCauseOfStep = origin == .step && steps.last?.error != nil
  }

  package enum CauseOrigin { case step, sequence }
}

extension SequentialOperationError: CancellationRepresenting {}

extension SequentialOperationError: ValueCarrying {
  func discardOwnValues() { steps.cleanups.runInOrder() }

  var carriedErrors: [any Error] { [cause].compactMap(\.self) }
}

extension SequentialOperationError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    var branches = steps.compactMap { step in
      step.error.map { error in
        ErrorBranch(label: "step \(step.index), \(step.name)", cause: .error(error))
      }
    }
    if let cause, !isCauseOfStep { branches.append(ErrorBranch(cause: .error(cause))) }
    return branches
  }

  package var nothing: String {
    "cancelled after \(steps.count) \(steps.count == 1 ? "step" : "steps")"
  }
}
