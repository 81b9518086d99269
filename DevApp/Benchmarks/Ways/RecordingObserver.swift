import CompositeOperations
import Synchronization

/// Keeps every event and when it came.
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
