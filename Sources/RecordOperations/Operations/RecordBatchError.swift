public import CompositeOperations

/// Not all of the records could be saved or deleted: what became of each.
///
/// A run that was cancelled on the way has it as what came late, ``CompositeOperations/OperationRun/late``: what had been done by then.
public struct RecordBatchError: Error, Sendable {
  /// The records that are saved, as they are now.
  public let saved: [DatabaseRecord]
  /// The records that are deleted.
  public let deleted: [RecordID]
  /// The records that could not be changed, each with its reason. For one whose reason is
  /// ``RecordError/Reason/replyLost`` nobody knows.
  public let failures: [RecordError]
  /// The records for which no request was made, because of a cancellation or of what became of those before.
  public let unsent: [RecordID]
  /// Whether the operation was cancelled.
  public let representsCancellation: Bool

  /// Why a record could not be changed; nil if it could, or was not to be.
  public subscript(id: RecordID) -> RecordError? { failures.first { $0.record == id } }
}

extension RecordBatchError: CancellationRepresenting {}

extension RecordBatchError: CustomStringConvertible {
  /// A line a failure, up to ten of them.
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
