extension RateLimit {
  /// How a wait for the operations that asked earlier has ended.
  enum Turn: Sendable { case leads, hasToken, isCancelled }

  typealias Continuation = CheckedContinuation<Turn, Never>

  /// An operation that waits for its turn.
  // Sendable: only the state machine uses the variables, under its lock.
  final class Waiter: @unchecked Sendable {
    fileprivate var continuation: Continuation?
    fileprivate var place: LinkedList<Waiter>.Place?
  }

  /// The tokens, and the operations that wait for them.
  ///
  /// One operation leads. It alone reads the clock and sleeps, until there is a token for it. Then it
  /// gives the tokens that have become available in the meantime to the next ones, so that a high
  /// rate needs a sleep for many operations, and the first one without a token leads.
  struct StateMachine: Sendable {
    /// How many tokens are given away at once: the lock is held for a short time, however many wait.
    private static let batch = 64

    struct Passing: Sendable {
      var withTokens: [Continuation] = []
      var leader: Continuation?
      /// Whether the lead has been passed on.
      var isComplete = true
    }

    private var isLed = false
    /// Whether the leader waits for its token, or for a thread. No other operation may take it.
    private var leaderWaits = false
    private var queue = LinkedList<Waiter>()
    /// When the bucket is full again; zero while it is full.
    private var full = Duration.zero

    mutating func triedToLead() -> Bool {
      if isLed { return false }
      isLed = true
      return true
    }

    /// - Returns: Whether the operation leads. If not, it waits.
    mutating func asked(_ waiter: Waiter, _ continuation: Continuation) -> Bool {
      if triedToLead() { return true }
      waiter.continuation = continuation
      waiter.place = queue.append(waiter)
      return false
    }

    /// Removes a waiter.
    ///
    /// - Returns: Its continuation, if it was waiting.
    mutating func cancelled(_ waiter: Waiter) -> Continuation? {
      guard let place = waiter.place.take() else { return nil }
      queue.remove(place)
      return waiter.continuation.take()
    }

    // MARK: Tokens

    /// Takes a token if there is one and no operation waits.
    mutating func triedToTake(_ share: Duration, at now: Duration, burst: Duration) -> Bool {
      queue.isEmpty && !leaderWaits && take(share, at: now, burst: burst) == nil
    }

    /// Takes a token for the leader, if there is one; if not, the leader waits for it.
    mutating func willWait(_ share: Duration, at now: Duration, burst: Duration) -> Duration? {
      let delay = take(share, at: now, burst: burst)
      leaderWaits = delay != nil
      return delay
    }

    /// Takes a token if there is one.
    ///
    /// - Returns: How long it takes until there is one; nil if a token was taken.
    private mutating func take(_ share: Duration, at now: Duration, burst: Duration) -> Duration? {
      let delay = full - now - burst
      if delay > .zero { return delay }
      takeNext(share, at: now)
      return nil
    }

    mutating func takeNext(_ share: Duration, at now: Duration) { full = max(full, now) + share }

    mutating func gaveBack(_ share: Duration) { full -= share }

    // MARK: The end of a lead

    /// Ends the lead if no operation waits.
    mutating func endedLead() -> Bool {
      leaderWaits = false
      if queue.isEmpty { isLed = false }
      return !isLed
    }

    /// Gives tokens to the first waiters. The first waiter without a token then leads.
    mutating func passedOn(_ share: Duration, at now: Duration, burst: Duration) -> Passing {
      var passing = Passing()
      while let place = queue.first {
        if passing.withTokens.count == Self.batch {
          passing.isComplete = false
          return passing
        }
        let hasToken = take(share, at: now, burst: burst) == nil
        guard let next = cancelled(queue.entry(at: place).element) else { break }
        guard hasToken else {
          passing.leader = next
          leaderWaits = true
          return passing
        }
        passing.withTokens.append(next)
      }
      isLed = false
      return passing
    }
  }
}
