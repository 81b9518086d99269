import Synchronization

/// A stopwatch that several tasks share, for example to measure the time from the failure of a
/// child to the outcome.
final class Stopwatch: Sendable {
  private let start = Mutex(ContinuousClock.now)

  func restart() { start.withLock { $0 = .now } }

  var nanoseconds: Double { Self.nanoseconds(since: start.withLock(\.self)) }

  static func nanoseconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start) / .nanoseconds(1)
  }
}
