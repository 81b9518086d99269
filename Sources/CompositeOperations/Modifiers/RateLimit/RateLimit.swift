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
  private let machine = Lock(StateMachine())
  /// Set by the first operation.
  private let stopwatch = Lock<Stopwatch?>(nil)

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
    // The sum of a time and a longer period would trap.
    let period = min(period, .seconds(Int64.max))
    share = period / count
    burst = period - share
  }

  /// Takes a token if there is one and no operation waits.
  func tryToTake(by clock: any Clock<Duration>) -> Bool {
    let now = stopwatch(by: clock).elapsed
    return machine.withLock { $0.triedToTake(share, at: now, burst: burst) }
  }

  /// Leads if no other operation does.
  func tryToLead() -> Bool { machine.withLock { $0.triedToLead() } }

  /// Waits until the operations that asked earlier have begun.
  ///
  /// - Returns: Whether the operation leads; if not, it has a token.
  /// - Throws: `CancellationError` at once when the task is cancelled.
  func waitForTurn() async throws -> Bool {
    let waiter = Waiter()
    let turn = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let leads = machine.withLock { $0.asked(waiter, continuation) }
        if leads { continuation.resume(returning: .leads) }
        // An earlier cancellation found no waiter.
        if Task.isCancelled { cancel(waiter) }
      }
    } onCancel: {
      cancel(waiter)
    }
    switch turn {
    case .leads: return true
    case .hasToken: return false
    case .isCancelled: throw CancellationError()
    }
  }

  private func cancel(_ waiter: Waiter) {
    machine.withLock { $0.cancelled(waiter) }?.resume(returning: .isCancelled)
  }

  /// Takes a token if there is one. Must be called by the leader.
  ///
  /// - Returns: How long to wait before ``takeNext()``; nil if a token was taken.
  func take(by clock: any Clock<Duration>) -> Duration? {
    let now = stopwatch(by: clock).elapsed
    return machine.withLock { $0.willWait(share, at: now, burst: burst) }
  }

  /// The stopwatch, which starts at the first use.
  private func stopwatch(by clock: any Clock<Duration>) -> Stopwatch {
    if let known = stopwatch.withLock(\.self) { return known }
    let new = Stopwatch(clock)
    return stopwatch.withLock { stopwatch in
      let known = stopwatch ?? new
      stopwatch = known
      return known
    }
  }

  /// Takes the token that the leader has waited for, whatever the clock reads: it may not be the
  /// clock of the first use, and no caller must wait forever.
  func takeNext() {
    let now = elapsed
    machine.withLock { $0.takeNext(share, at: now) }
  }

  /// Gives back a token that no operation has used.
  func giveBack() { machine.withLock { $0.gaveBack(share) } }

  /// Passes the tokens that there are, and then the lead, to the operations that wait.
  func passOn() {
    if machine.withLock({ $0.endedLead() }) { return }
    let now = elapsed
    var isComplete = false
    while !isComplete {
      let passing = machine.withLock { $0.passedOn(share, at: now, burst: burst) }
      for waiter in passing.withTokens { waiter.resume(returning: .hasToken) }
      passing.leader?.resume(returning: .leads)
      isComplete = passing.isComplete
    }
  }

  private var elapsed: Duration { stopwatch.withLock(\.self)?.elapsed ?? .zero }
}
