extension Gate {
  /// The tasks that wait at the gate, and the tasks that wait for arrivals.
  struct StateMachine: Sendable {
    /// Waits to resume, and whether the tasks at the gate may pass.
    struct Action: Sendable {
      fileprivate var passers: [CheckedContinuation<Bool, Never>] = []
      fileprivate var mayPass = true
      fileprivate var watchers: [CheckedContinuation<Void, Never>] = []

      func perform() {
        for watcher in watchers { watcher.resume() }
        for passer in passers { passer.resume(returning: mayPass) }
      }
    }

    private struct Watcher: Sendable {
      let count: Int
      let continuation: CheckedContinuation<Void, Never>
    }

    private var isOpen: Bool
    private(set) var arrivals = 0
    private var lastID = 0
    private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    private var cancelledEarly: Set<Int> = []
    private var watchers: [Watcher] = []

    init(isOpen: Bool) { self.isOpen = isOpen }

    mutating func makeID() -> Int {
      lastID += 1
      return lastID
    }

    mutating func arrived(_ id: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Action {
      arrivals += 1
      var action = Action(watchers: endedWatches())
      if cancelledEarly.remove(id) != nil {
        action.passers = [continuation]
        action.mayPass = false
      } else if isOpen {
        action.passers = [continuation]
      } else {
        waiting[id] = continuation
      }
      return action
    }

    mutating func cancelled(_ id: Int) -> Action {
      guard let continuation = waiting.removeValue(forKey: id) else {
        cancelledEarly.insert(id)
        return Action()
      }
      return Action(passers: [continuation], mayPass: false)
    }

    /// A task has passed the gate, so its wait can no longer be cancelled.
    mutating func left(_ id: Int) { cancelledEarly.remove(id) }

    mutating func opened() -> Action {
      isOpen = true
      defer { waiting = [:] }
      return Action(passers: waiting.sorted { $0.key < $1.key }.map(\.value))
    }

    mutating func waited(
      forArrivals count: Int, _ continuation: CheckedContinuation<Void, Never>
    ) -> Action {
      watchers.append(Watcher(count: count, continuation: continuation))
      return Action(watchers: endedWatches())
    }

    private mutating func endedWatches() -> [CheckedContinuation<Void, Never>] {
      let ended = watchers.filter { $0.count <= arrivals }
      watchers.removeAll { $0.count <= arrivals }
      return ended.map(\.continuation)
    }
  }
}
