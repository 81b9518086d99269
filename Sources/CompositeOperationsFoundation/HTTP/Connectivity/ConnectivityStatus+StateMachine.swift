extension ConnectivityStatus {
  typealias Waiter = CheckedContinuation<Void, any Error>

  /// Tracks whether there is a network, and the waiters for it.
  struct StateMachine: Sendable {
    enum WaitAction: Sendable { case wait, goOn, stop }

    private enum Place: Sendable {
      /// About to wait.
      case coming
      case waiting(Waiter)
    }

    private(set) var isConnected: Bool
    private var places: [Int: Place] = [:]
    private var count = 0

    init(isConnected: Bool) { self.isConnected = isConnected }

    mutating func newWaiter() -> Int {
      count += 1
      places[count] = .coming
      return count
    }

    /// Checks every waiter against the current status, even if others are waiting already.
    mutating func waits(_ waiter: Waiter, as id: Int) -> WaitAction {
      switch places[id] {
      case .coming where isConnected:
        places[id] = nil
        return .goOn
      case .coming:
        places[id] = .waiting(waiter)
        return .wait
      // It was cancelled before it waited.
      case nil: return .stop
      case .waiting: preconditionFailure("waiter \(id) waits twice")
      }
    }

    /// - Returns: The waiter to resume; nil if it does not wait.
    mutating func cancelled(_ id: Int) -> Waiter? {
      switch places.removeValue(forKey: id) {
      case .coming, nil: nil
      case .waiting(let waiter): waiter
      }
    }

    /// - Returns: The waiters to resume.
    mutating func updated(isConnected: Bool) -> [Waiter] {
      self.isConnected = isConnected
      guard isConnected else { return [] }
      var waiters: [(id: Int, waiter: Waiter)] = []
      for case (let id, .waiting(let waiter)) in places { waiters.append((id, waiter)) }
      for (id, _) in waiters { places[id] = nil }
      return waiters.sorted { $0.id < $1.id }.map(\.waiter)
    }
  }
}
