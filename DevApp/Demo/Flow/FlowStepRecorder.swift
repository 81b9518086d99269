import CompositeOperations
import Dispatch

/// Stores in the journal how far the steps of a run are, for those who look at it meanwhile. The
/// records of a short time are stored together, so that a flow with short steps does not wait.
final class FlowStepRecorder: Sendable {
  private static let delay = DispatchTimeInterval.milliseconds(100)

  private let journal: FlowJournal
  private let run: Int
  private let pending = Lock<[String: FlowStepRecord]>([:])
  private let queue = DispatchQueue(label: "steps")

  init(_ journal: FlowJournal, ofRun number: Int) {
    self.journal = journal
    run = number
  }

  func note(_ record: FlowStepRecord) {
    let isFirst = pending.withLock { pending in
      defer { pending[record.unit, default: record].update(with: record) }
      return pending.isEmpty
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in store() } }
  }

  /// Stores the records since the last call.
  func store() {
    let records = pending.withLock { pending in
      defer { pending = [:] }
      return Array(pending.values)
    }
    if !records.isEmpty { journal.storeLater(records, ofRun: run) }
  }
}
