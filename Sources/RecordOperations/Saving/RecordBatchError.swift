public import CompositeOperations

/// An error for records that could not be saved or deleted, with the result of each.
///
/// A cancelled run has this error as ``CompositeOperations/OperationRun/lateOutcome``, with what was done
/// before.
public struct RecordBatchError: Error, Sendable {
  /// The saved records, in their current state.
  public let saved: [DatabaseRecord]
  /// The IDs of the deleted records.
  public let deleted: [RecordID]
  /// The errors of the records that could not be changed. With the reason
  /// ``RecordError/Reason/replyLost``, it is not known whether the record was changed.
  public let failures: [RecordError]
  /// The IDs of the records for which no request was made, because of a cancellation or of earlier
  /// failures.
  public let unsent: [RecordID]
  /// Whether the operation was cancelled.
  public let representsCancellation: Bool

  /// The error of a record; `nil` if it has none.
  public subscript(id: RecordID) -> RecordError? { failures.first { $0.record == id } }
}

extension RecordBatchError: CancellationRepresenting {}

extension RecordBatchError: CustomStringConvertible {
  /// The counts, and a line for each of the first ten failures.
  public var description: String {
    let all = saved.count + deleted.count + failures.count + unsent.count
    var lines = ["\(all - saved.count - deleted.count) of \(RecordBatch.size(all)) not changed"]
    if representsCancellation { lines[0] += ", because the operation was cancelled" }
    lines += failures.prefix(10).map { "\($0)" }
    if failures.count > 10 { lines.append("… and \(failures.count - 10) more") }
    if !unsent.isEmpty { lines.append("\(unsent.count) not sent") }
    return lines.joined(separator: "\n")
  }
}
