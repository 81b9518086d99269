/// The error of a sequential composite: why it ended, and the steps until then.
///
/// Its description is a line a failed step. A composite that was cancelled shows its steps the same
/// way on its event and on its handle.
public struct SequentialOperationError: Error, Sendable {
  /// What ended the composite: the error of the last step, or what the sequence threw. Nil for a
  /// composite that was cancelled while its sequence threw nothing.
  public var cause: (any Error)? { content.value.cause }

  /// The steps that had ended, in order, as many as the sequence's history keeps.
  public var steps: FinishedSteps { content.value.steps }

  private struct Content: Sendable {
    let cause: (any Error)?
    let steps: FinishedSteps
  }

  private let content: StackSafe<Content>

  /// Whether nothing failed: the composite was cancelled, or its last step or the sequence itself
  /// cancelled it.
  // Stored, because a cause may be the error of another sequential composite, and so on down.
  public let representsCancellation: Bool

  /// Whether the cause is the error of the last step, and shown with it.
  private let isCauseOfStep: Bool

  var shares: [Shares] = []

  init(cause: (any Error)?, from origin: CauseOrigin, steps: FinishedSteps) {
    content = StackSafe(Content(cause: cause, steps: steps))
    representsCancellation = cause?.meansCancellation ?? true
    isCauseOfStep = origin == .step && steps.last?.error != nil
  }

  enum CauseOrigin { case step, sequence }
}

extension SequentialOperationError: CancellationRepresenting {}

extension SequentialOperationError: ValueCarrying {
  func discardOwnValues() { steps.discardResults() }

  var carriedErrors: [any Error] {
    steps.errors + (isCauseOfStep ? [] : [cause].compactMap(\.self))
  }
}

extension SequentialOperationError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    var branches = steps.compactMap { step in
      step.error.map { error in
        ErrorBranch(label: "step \(step.index), \(step.name)", cause: .error(error))
      }
    }
    if let cause, !isCauseOfStep { branches.append(ErrorBranch(cause: .error(cause))) }
    return branches
  }

  var nothing: String { "cancelled after \(steps.count) steps" }
}
