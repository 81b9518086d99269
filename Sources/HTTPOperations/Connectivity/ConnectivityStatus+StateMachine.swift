extension ConnectivityStatus {
  typealias Waiter = CheckedContinuation<Void, any Error>

  /// Tracks whether there is a network, and the waiters for it.
  struct StateMachine: Sendable {
    enum WaitAction: Sendable { case wait, resume, cancel }

    private enum Waiting: Sendable {
      /// About to wait.
      case registered
      case waiting(Waiter)
    }

    private(set) var isConnected: Bool
    private var waiters: [Int: Waiting] = [:]
    private var count = 0

    init(isConnected: Bool) { self.isConnected = isConnected }

    mutating func newWaiter() -> Int {
      count += 1
      waiters[count] = .registered
      return count
    }

    /// Checks every waiter against the current status, even if others are waiting already.
    mutating func waits(_ waiter: Waiter, as id: Int) -> WaitAction {
      switch waiters[id] {
      case .registered where isConnected:
        waiters[id] = nil
        return .resume
      case .registered:
        waiters[id] = .waiting(waiter)
        return .wait
      // It was cancelled before it waited.
      case nil: return .cancel
      case .waiting: preconditionFailure("waiter \(id) waits twice")
      }
    }

    /// - Returns: The waiter to resume; nil if it does not wait.
    mutating func cancelled(_ id: Int) -> Waiter? {
      switch waiters.removeValue(forKey: id) {
      case .registered, nil: nil
      case .waiting(let waiter): waiter
      }
    }

    /// - Returns: The waiters to resume.
    mutating func updated(isConnected: Bool) -> [Waiter] {
      self.isConnected = isConnected
      guard isConnected else { return [] }
      var resumed: [(id: Int, waiter: Waiter)] = []
      for case (let id, .waiting(let waiter)) in waiters { resumed.append((id, waiter)) }
      for (id, _) in resumed { waiters[id] = nil }
      return resumed.sorted { $0.id < $1.id }.map(\.waiter)
    }
  }
}
