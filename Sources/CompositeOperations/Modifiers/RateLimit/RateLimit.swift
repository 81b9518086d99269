/// A limit on how many operations may begin in a period of time.
///
/// ```swift
/// let limit = RateLimit(10, per: .seconds(1))
/// let fetch = FetchIssues(repository: repository).throttled(by: limit)
/// ```
///
/// The limit is a token bucket. After a pause, `count` operations may begin at once, and then one
/// for each `period / count`, in FIFO order. So nearly `2 * count` operations may begin in the
/// first period after a pause. If a server counts strictly, use half its rate.
///
/// The limit covers the operations that share it. `throttled(to:per:)` inside `map` makes a
/// separate limit for each element of a list, so that all of them begin at once.
///
/// Time is measured by the clock of the environment in which the limit is first used. Use separate
/// limits for runs with different clocks.
public final class RateLimit: Sendable {
  /// How many operations may begin in a period.
  public let count: Int
  /// The length of a period.
  public let period: Duration

  /// The time in which the bucket gains one token.
  private let share: Duration
  /// The bucket has a token from this long before it is full.
  private let burst: Duration
  /// Held by the first waiter, the only one to use the bucket.
  let turn = Permits(1, name: "rate limit")
  private let bucket = Lock(Bucket())

  private struct Bucket: Sendable {
    var stopwatch: Stopwatch?
    /// When the bucket is full again; zero while it is full.
    var full = Duration.zero
  }

  /// Creates a rate limit.
  ///
  /// - Parameters:
  ///   - count: How many operations may begin in a period.
  ///   - period: The length of a period.
  /// - Precondition: `count` is at least 1, and `period` is positive.
  public init(_ count: Int, per period: Duration) {
    precondition(count >= 1, "`count` must be at least 1 (was \(count))")
    precondition(period > .zero, "`period` must be positive (was \(period))")
    self.count = count
    self.period = period
    share = period / count
    burst = period - share
  }

  /// Takes a token if there is one. Must be called by the holder of the turn.
  ///
  /// - Returns: How long to wait before ``takeNext()``; nil if a token was taken.
  func take(by clock: any Clock<Duration>) -> Duration? {
    let bucket = bucket.withLock { $0 }
    let stopwatch = bucket.stopwatch ?? Stopwatch(clock)
    let now = stopwatch.elapsed
    let delay = bucket.full - now - burst
    if delay > .zero { return delay }
    self.bucket.withLock { $0 = Bucket(stopwatch: stopwatch, full: max(bucket.full, now) + share) }
    return nil
  }

  /// Takes the token that the caller has waited for, whatever the clock reads: it may not be the
  /// clock of the first use, and no caller must wait forever.
  func takeNext() {
    let bucket = bucket.withLock { $0 }
    let now = bucket.stopwatch?.elapsed ?? .zero
    self.bucket.withLock { $0.full = max(bucket.full, now) + share }
  }
}
