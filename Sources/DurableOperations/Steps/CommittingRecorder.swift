package import CompositeOperations

/// Makes the row that stores the result of a ``CommittingOperation``.
package protocol CommittingRecorder: Sendable {
  /// The positions of the steps that the history does not keep after this one.
  var dropped: Range<Int> { get }

  func row(of result: String) -> StoredStep

  /// Called when the row is stored.
  func committed(_ row: StoredStep)
}

/// Stores the result of a part of a step under its key.
struct KeyRecorder: CommittingRecorder {
  let part: RunJournal
  let began: Int64

  var dropped: Range<Int> { 0..<0 }

  func row(of result: String) -> StoredStep {
    part.step.noteKeys()
    return part.step.row(part.key, .result, result, began: began)
  }

  func committed(_ row: StoredStep) { part.step.remember(row) }
}

/// An operation that stores its result itself, together with changes of its own (``CommitContext``).
package protocol CommittingOperation: ComposableOperation {}

extension ComposableOperation {
  /// Whether the operation is a ``CommittingOperation``, also with a name, observers or a weight.
  var isCommitting: Bool {
    if self is any CommittingOperation { return true }
    return hasSameOutcomeAsModified && modifiedOperation?.isCommitting == true
  }
}
