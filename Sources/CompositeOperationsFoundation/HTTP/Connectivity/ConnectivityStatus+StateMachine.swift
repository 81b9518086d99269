extension ConnectivityStatus {
  typealias Waiter = CheckedContinuation<Void, any Error>

  /// Whether there is a network, and who waits for it.
  struct StateMachine: Sendable {
    enum WaitAction: Sendable { case wait, goOn, stop }

    private enum Place: Sendable {
      /// Is about to wait.
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

    /// Everybody is checked against how things are now, whoever else waits already.
    mutating func waits(_ waiter: Waiter, as id: Int) -> WaitAction {
      switch places[id] {
      case .coming where isConnected:
        places[id] = nil
        return .goOn
      case .coming:
        places[id] = .waiting(waiter)
        return .wait
      // Was cancelled before it waited.
      case nil: return .stop
      case .waiting: preconditionFailure("waiter \(id) waits twice")
      }
    }

    /// - Returns: Who is to be told; nil if it does not wait.
    mutating func cancelled(_ id: Int) -> Waiter? {
      switch places.removeValue(forKey: id) {
      case .coming, nil: nil
      case .waiting(let waiter): waiter
      }
    }

    /// - Returns: Who goes on.
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
