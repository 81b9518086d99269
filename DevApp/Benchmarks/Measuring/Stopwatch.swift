import Synchronization

/// The time between two moments that different tasks know of: the first child's failure, say, and
/// the outcome.
final class Stopwatch: Sendable {
  private let start = Mutex(ContinuousClock.now)

  func restart() { start.withLock { $0 = .now } }

  var nanoseconds: Double { Self.nanoseconds(since: start.withLock(\.self)) }

  static func nanoseconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .nanoseconds(1)
  }
}
