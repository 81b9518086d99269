extension Turnstile {
  /// Whether a task is inside, and which tasks wait.
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

    /// - Returns: The waiter itself, if it is already inside.
    mutating func waitedToEnter(_ waiter: Waiter) -> Waiter? {
      if triedToEnter() { return waiter }
      queue.append(waiter)
      return nil
    }

    /// - Returns: The next waiter, which is now inside; else the waiters for an idle turnstile.
    mutating func left() -> [Waiter] {
      precondition(isOccupied, "leave() was called on an idle turnstile")
      if let next = queue.popFirst() { return [next] }
      isOccupied = false
      if idleWaiters.isEmpty { return [] }
      return exchange(&idleWaiters, with: [])
    }

    /// - Returns: The waiter itself, if no task is inside.
    mutating func waitedUntilIdle(_ waiter: Waiter) -> Waiter? {
      if !isOccupied { return waiter }
      idleWaiters.append(waiter)
      return nil
    }
  }
}
