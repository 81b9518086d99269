import CompositeOperationsTestKit

/// A clock whose `sleep` throws.
struct FailingClock: Clock {
  typealias Instant = ManualClock.Instant

  private let error: any Error
  private let clock = ManualClock()
  private let gate: Gate

  /// - Parameters:
  ///   - error: The error that `sleep` throws.
  ///   - gate: The gate that `sleep` waits at before it throws; nil to throw immediately.
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
