import CompositeOperationsTestKit
import Synchronization

/// A clock that wakes its sleepers before their deadlines.
final class EarlyClock: Clock, Sendable {
  typealias Instant = ManualClock.Instant

  private let clock = ManualClock()
  private let lead: Duration?
  private let sleeps = Atomic(0)

  /// - Parameter lead: How long before its deadline a sleeper wakes; nil to wake it immediately,
  ///   also after a cancellation.
  init(by lead: Duration?) { self.lead = lead }

  var now: Instant { clock.now }
  var minimumResolution: Duration { .zero }
  /// How often a task has begun to sleep.
  var sleepCount: Int { sleeps.load(ordering: .acquiring) }

  func waitForSleepers(_ count: Int) async { await clock.waitForSleepers(count) }
  func advance(by duration: Duration) { clock.advance(by: duration) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    sleeps.wrappingAdd(1, ordering: .acquiringAndReleasing)
    if let lead { try await clock.sleep(until: deadline.advanced(by: .zero - lead)) }
  }
}
