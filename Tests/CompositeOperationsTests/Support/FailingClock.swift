import CompositeOperationsTestKit

/// A clock whose `sleep` fails.
struct FailingClock: Clock {
  typealias Instant = ManualClock.Instant

  private let error: any Error
  private let clock = ManualClock()
  private let gate: Gate

  /// - Parameters:
  ///   - error: The error that `sleep` throws.
  ///   - gate: Where `sleep` waits before it throws; nil to throw at once.
  init(_ error: any Error = TestError("the clock stopped"), after gate: Gate? = nil) {
    self.error = error
    self.gate = gate ?? Gate(isOpen: true)
  }

  var now: Instant { clock.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    await gate.passIgnoringCancellation()
    throw error
  }
}
