extension PoolAdmission {
  typealias Waiter = CheckedContinuation<Decision, Never>
  typealias PlainWaiter = CheckedContinuation<Void, Never>
  typealias Canceller = @Sendable (_ reason: String?) -> Void

  /// The decision on a member.
  enum Decision: Sendable {
    case begin
    /// It was cancelled while it waited.
    case cancelled
    case refused(PoolRefusalError.Reason)
  }

  /// The remaining wait of the submitter of a member.
  enum Remainder: Sendable {
    case isDone
    case roomIsWanted
    /// Many refused or cancelled members have not ended. The submitter yields to them, so that
    /// their number does not grow.
    case othersAreLeaving
  }

  /// The waiters to resume outside the lock.
  struct Resumptions: Sendable {
    /// The first waiter needs no array: usually it is the only one.
    private var first: Waiter?
    private var firstDecision = Decision.begin
    private var rest: [(waiter: Waiter, decision: Decision)] = []
    var others: [PlainWaiter] = []
    /// Freed together with this, outside the lock.
    var unused: Canceller?

    mutating func add(_ waiter: Waiter, _ decision: Decision) {
      if first == nil {
        first = waiter
        firstDecision = decision
      } else {
        rest.append((waiter, decision))
      }
    }

    func perform() {
      first?.resume(returning: firstDecision)
      for (waiter, decision) in rest { waiter.resume(returning: decision) }
      for waiter in others { waiter.resume() }
    }
  }
}
