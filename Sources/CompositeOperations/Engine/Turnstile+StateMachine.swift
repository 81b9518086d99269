extension Turnstile {
  /// Whether somebody is inside, and who waits for what.
  struct StateMachine: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var isOccupied = false
    private var queue = Line<Waiter>()
    private var idleWaiters: [Waiter] = []

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

    /// - Returns: The waiter that is inside now, or the waiters for an idle turnstile if there is
    ///   none.
    mutating func left() -> [Waiter] {
      precondition(isOccupied, "leave() was called on an idle turnstile")
      if let next = queue.popFirst() { return [next] }
      isOccupied = false
      if idleWaiters.isEmpty { return [] }
      return exchange(&idleWaiters, with: [])
    }

    /// - Returns: The waiter itself, if nobody is inside.
    mutating func waitedUntilIdle(_ waiter: Waiter) -> Waiter? {
      if !isOccupied { return waiter }
      idleWaiters.append(waiter)
      return nil
    }
  }
}
