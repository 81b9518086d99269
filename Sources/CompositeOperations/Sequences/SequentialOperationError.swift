/// The error of a sequential composite: why it ended, and the steps until then.
///
/// Its description is a line a failed step. A composite that was cancelled shows its steps the same
/// way on its event and on its handle.
public struct SequentialOperationError: Error, Sendable {
  /// What ended the composite: the error of the last step, or what the sequence threw. Nil for a
  /// composite that was cancelled while its sequence threw nothing.
  public let cause: (any Error)?

  /// The steps that had ended, in order, as many as the sequence's history keeps.
  public let steps: FinishedSteps
}

extension SequentialOperationError: CancellationRepresenting {
  /// Whether nothing failed: the composite was cancelled, or its last step or the sequence itself
  /// cancelled it.
  public var representsCancellation: Bool { cause?.meansCancellation ?? true }
}

extension SequentialOperationError: ValueCarrying {
  func discardValues() {
    steps.disposal?()
  }
}

extension SequentialOperationError: CustomStringConvertible {
  public var description: String {
    var lines = steps.compactMap { step in
      step.error.map { "step \(step.index), \(step.name): \($0)" }
    }
    let isShown = steps.last?.error != nil
    if let cause, !isShown { lines.append("\(cause)") }
    if lines.isEmpty { lines = ["cancelled after \(steps.count) steps"] }
    return lines.map(\.withHangingLines).joined(separator: "\n")
  }
}
