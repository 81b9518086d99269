internal import CompositeOperations

/// A clock that skips all waits.
final class SkippingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    let offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  // The date of this test, 2026-01-01, which is as good as any other.
  private static let start = Duration.seconds(1_767_225_600)

  private let offset = Lock(start)

  var now: Instant { Instant(offset: offset.withLock { $0 }) }
  var minimumResolution: Duration { .zero }

  /// The seconds since 1970, UTC.
  var seconds: Double { now.offset / .seconds(1) }

  /// Skips to a time, in milliseconds since 1970.
  func skip(to milliseconds: Int64) { skip(to: Instant(offset: .milliseconds(milliseconds))) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    // Other operations begin first, as they would while this one waits.
    await Task.yield()
    skip(to: deadline)
  }

  private func skip(to instant: Instant) { offset.withLock { $0 = max($0, instant.offset) } }
}
