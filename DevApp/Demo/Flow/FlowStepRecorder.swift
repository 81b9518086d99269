import CompositeOperations
import Dispatch

/// Stores the progress of the steps of a run in the journal, so that other processes can show it while
/// the run is in progress. The records of a short time are stored together, so that a flow with short
/// steps does not wait.
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
    if isFirst { storeSoon() }
  }

  private func storeSoon() {
    queue.asyncAfter(deadline: .now() + Self.delay) { [self] in store() }
  }

  /// Stores the records since the last call.
  func store() {
    // They are handed over under the lock, so that an older record is not stored after a later one.
    pending.withLock { pending in
      if pending.isEmpty { return }
      let records = Array(pending.values)
      pending = [:]
      journal.storeLater(records, ofRun: run) { [self] in storeAgain(records) }
    }
  }

  /// Stores records again that could not be stored, such as in a busy journal, with those since then.
  private func storeAgain(_ records: [FlowStepRecord]) {
    pending.withLock { pending in
      for record in records {
        let later = pending[record.unit]
        pending[record.unit] = record
        if let later { pending[record.unit]?.update(with: later) }
      }
    }
    storeSoon()
  }
}
