import CompositeOperations
import Synchronization

/// An observer that keeps every event with its time.
final class RecordingObserver: OperationObserver {
  private struct Entry {
    let time: ContinuousClock.Instant
    let event: OperationEvent
  }

  private let entries = Mutex<[Entry]>([])

  var events: [OperationEvent] { entries.withLock { $0.map(\.event) } }

  func observe(_ event: OperationEvent) {
    let entry = Entry(time: .now, event: event)
    entries.withLock { $0.append(entry) }
  }
}
