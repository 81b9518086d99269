import CompositeOperations
import Dispatch

/// Stores the progress of the steps of a run in the journal, so that other processes can show it while
/// the run is in progress. The records of a short time are stored together, so that a flow with short
/// steps does not wait.
package final class FlowStepRecorder: Sendable {
  /// Stores records when it is their turn. The first closure returns them; the second one receives
  /// those that could not be stored.
  package typealias Storing =
    @Sendable (
      @escaping @Sendable () -> [FlowStepRecord],
      @escaping @Sendable ([FlowStepRecord]) -> Void
    ) -> Void

  private struct State: Sendable {
    var pending: [ExactText: FlowStepRecord] = [:]
    var isClosed = false
  }

  private static let delay = DispatchTimeInterval.milliseconds(100)
  private static let delayAfterFailure = DispatchTimeInterval.seconds(1)

  private let storeLater: Storing
  private let state = Lock(State())
  private let queue = DispatchQueue(label: "steps")

  package init(storeLater: @escaping Storing) { self.storeLater = storeLater }

  package func note(_ record: FlowStepRecord) {
    let isFirst = state.withLock { state in
      defer { state.pending[ExactText(record.unit), default: record].update(with: record) }
      return state.pending.isEmpty
    }
    if isFirst { store(after: Self.delay) }
  }

  /// Stores the records before the next request to the journal.
  package func store() {
    // The journal takes them when it stores them, so that no older record is stored after a later one.
    storeLater({ [self] in taken() }, { [self] records in putBack(records) })
  }

  /// Stores the records, and then no more.
  func close() {
    store()
    state.withLock { $0.isClosed = true }
  }

  private func store(after delay: DispatchTimeInterval) {
    queue.asyncAfter(deadline: .now() + delay) { [self] in
      if !state.withLock(\.isClosed) { store() }
    }
  }

  private func taken() -> [FlowStepRecord] {
    state.withLock { state in
      defer { state.pending = [:] }
      return Array(state.pending.values)
    }
  }

  /// Keeps records that could not be stored, such as in a busy journal, until the next attempt.
  private func putBack(_ records: [FlowStepRecord]) {
    state.withLock { state in
      for record in records {
        let unit = ExactText(record.unit)
        let later = state.pending.updateValue(record, forKey: unit)
        if let later { state.pending[unit]?.update(with: later) }
      }
    }
    store(after: Self.delayAfterFailure)
  }
}
