import CompositeOperations
import Synchronization

/// An observer that reads the clock at every event, and counts the events.
final class TimingObserver: OperationObserver {
  private let count = Atomic(0)

  func observe(_ event: OperationEvent) {
    let now = ContinuousClock.now
    withExtendedLifetime(now) { _ = count.wrappingAdd(1, ordering: .relaxed) }
  }
}
