/// How many operations may begin in a time, wherever they run.
///
/// ```swift
/// let limit = RateLimit(10, per: .seconds(1))
/// let fetch = FetchIssues(repository: repository).throttled(by: limit)
/// ```
///
/// It is a token bucket: after a pause as many may begin at once as in one period, and from then on one
/// whenever a share of the period has passed. They begin in the order in which they came. So within one
/// period behind a pause nearly twice as many may begin; where somebody counts strictly, ask for half.
///
/// A rate limit counts what shares it. One that is made for each element of a list, as `throttled(to:per:)`
/// within `map` does, lets them all begin at once.
///
/// Time is that of the environment in which it is first used. So runs with different clocks need rate
/// limits of their own.
public final class RateLimit: Sendable {
  /// How many may begin in a period.
  public let count: Int
  /// The period.
  public let period: Duration

  /// The time of one token.
  private let share: Duration
  /// How long before it is full the bucket has a token.
  private let burst: Duration
  /// Only who stands in front looks at the bucket.
  let turn = Permits(1, name: "rate limit")
  private let bucket = Lock(Bucket())

  private struct Bucket: Sendable {
    var stopwatch: Stopwatch?
    /// When the bucket is full again; nothing while it is full.
    var full = Duration.zero
  }

  /// - Parameters:
  ///   - count: How many may begin in a period.
  ///   - period: The period.
  /// - Precondition: It is at least one, and the period is longer than nothing.
  public init(_ count: Int, per period: Duration) {
    precondition(count >= 1, "`count` must be at least 1 (was \(count))")
    precondition(period > .zero, "`period` must be positive (was \(period))")
    self.count = count
    self.period = period
    share = period / count
    burst = period - share
  }

  /// Takes a token if there is one. To be called by who has the turn.
  ///
  /// - Returns: How long to wait before ``takeNext()``; nil if one was taken.
  func take(by clock: any Clock<Duration>) -> Duration? {
    let bucket = bucket.withLock { $0 }
    let stopwatch = bucket.stopwatch ?? Stopwatch(clock)
    let now = stopwatch.elapsed
    let delay = bucket.full - now - burst
    if delay > .zero { return delay }
    self.bucket.withLock { $0 = Bucket(stopwatch: stopwatch, full: max(bucket.full, now) + share) }
    return nil
  }

  /// Takes the token that was waited for, whatever the clock says: it may be another one than that of
  /// the first use, and must not keep everybody waiting for ever.
  func takeNext() {
    let bucket = bucket.withLock { $0 }
    let now = bucket.stopwatch?.elapsed ?? .zero
    self.bucket.withLock { $0.full = max(bucket.full, now) + share }
  }
}
