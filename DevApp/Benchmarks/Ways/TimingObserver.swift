import CompositeOperations
import Synchronization

/// Reads the clock at every event and counts them.
final class TimingObserver: OperationObserver {
  private let count = Atomic(0)

  func observe(_ event: OperationEvent) {
    let now = ContinuousClock.now
    withExtendedLifetime(now) { _ = count.wrappingAdd(1, ordering: .relaxed) }
  }
}
