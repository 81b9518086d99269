internal import CompositeOperations

/// Makes the row that stores the result of a ``CommittedStep``.
protocol CommittingRecorder: Sendable {
  /// The first step that stays in the journal; 0 for all.
  var firstKept: Int { get }

  func row(of result: String) -> StoredStep

  /// Called when the row is stored.
  func committed(_ row: StoredStep)
}

/// Stores the result of a part of a step under its key.
struct KeyRecorder: CommittingRecorder {
  let part: RunJournal
  let began: Int64

  var firstKept: Int { 0 }

  func row(of result: String) -> StoredStep {
    part.step.row(part.key, .result, result, began: began)
  }

  func committed(_ row: StoredStep) { part.step.remember(row) }
}

/// An operation that stores its result itself.
protocol CommittingOperation: ComposableOperation {}

extension CommittedStep: CommittingOperation {}

extension ComposableOperation {
  /// Whether the operation is a ``CommittedStep``, also with a name, observers or a weight.
  var isCommittedStep: Bool {
    if self is any CommittingOperation { return true }
    return hasSameOutcomeAsModified && modifiedOperation?.isCommittedStep == true
  }
}
