import CompositeOperations

/// A clock that sleepers advance: each time that a sleeper yields, a tick passes.
///
/// Time therefore passes in the order of the executor, and only while a task sleeps or computes.
struct TickClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  /// The number of ticks that have passed.
  private let ticks = Shared(0)

  var tick: Int { ticks.value.withLock { $0 } }
  var now: Instant { Instant(offset: Self.time(tick)) }
  var minimumResolution: Duration { .zero }

  /// Advances the clock without a sleeper.
  func advance(by ticks: Int) { self.ticks.value.withLock { $0 += ticks } }

  static func time(_ ticks: Int) -> Duration { .milliseconds(ticks) }

  func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    // A sleeper could not yield that many times.
    if deadline.offset > .seconds(1_000) { return try await Task.sleep(for: .seconds(1_000_000)) }
    while now < deadline {
      try Task.checkCancellation()
      await Task.yield()
      ticks.value.withLock { $0 += 1 }
    }
    try Task.checkCancellation()
  }
}

/// A lock that copies of the clock share.
private final class Shared: Sendable {
  let value: Lock<Int>

  init(_ value: Int) { self.value = Lock(value) }
}
