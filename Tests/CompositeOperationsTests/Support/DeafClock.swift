import CompositeOperationsTestKit

/// A clock whose sleepers ignore their cancellation.
struct DeafClock: Clock {
  typealias Instant = ManualClock.Instant

  private let clock = ManualClock()
  private let gate = Gate()

  var now: Instant { clock.now }
  var minimumResolution: Duration { .zero }

  func waitForSleepers(_ count: Int) async { await gate.waitForArrivals(count) }

  /// Advances the clock by an hour and wakes all sleepers.
  func advance() {
    clock.advance(by: .seconds(3600))
    gate.open()
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await gate.passIgnoringCancellation()
  }
}
