extension Turnstile {
  /// Whether somebody is inside, and who waits for what.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var isOccupied = false
    private var queue = Line<Waiter>()
    private var idleWaiter: Waiter?

    mutating func triedToEnter() -> Bool {
      if isOccupied { return false }
      isOccupied = true
      return true
    }

    /// - Returns: The waiter itself, if it is inside already.
    mutating func waitedToEnter(_ waiter: Waiter) -> Waiter? {
      if triedToEnter() { return waiter }
      queue.append(waiter)
      return nil
    }

    /// - Returns: Whoever is inside now, or whoever waited until nobody is.
    mutating func left() -> Waiter? {
      precondition(isOccupied, "Somebody left a turnstile that was idle.")
      if let next = queue.popFirst() { return next }
      isOccupied = false
      return idleWaiter.take()
    }

    /// - Returns: The waiter itself, if nobody is inside.
    mutating func waitedUntilIdle(_ waiter: Waiter) -> Waiter? {
      if !isOccupied { return waiter }
      precondition(idleWaiter == nil, "Two tasks waited until a turnstile is idle.")
      idleWaiter = waiter
      return nil
    }
  }
}
