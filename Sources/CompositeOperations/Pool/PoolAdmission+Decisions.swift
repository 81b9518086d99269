extension PoolAdmission {
  typealias Waiter = CheckedContinuation<Decision, Never>
  typealias PlainWaiter = CheckedContinuation<Void, Never>
  typealias Canceller = @Sendable (_ reason: String?) -> Void

  /// What becomes of a member.
  enum Decision: Sendable {
    case begin
    /// It was cancelled while it waited.
    case cancelled
    case refused(PoolRefusalError.Reason)
  }

  /// What whoever submits a member has to wait for.
  enum Remainder: Sendable {
    case isDone
    case roomIsWanted
    /// Others that were turned away have not ended: they are to be let run, so that they do not grow in number.
    case othersAreLeaving
  }

  /// Who is to be told of what, outside the lock.
  struct Wakening: Sendable {
    /// The first without an array: mostly there is no other.
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
