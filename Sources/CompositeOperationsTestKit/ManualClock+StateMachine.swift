extension ManualClock {
  /// The sleeping tasks with their deadlines, and the tasks that wait for sleepers.
  struct StateMachine: Sendable {
    /// Waits to resume, and whether each sleeper slept until its deadline.
    struct Action: Sendable {
      fileprivate var sleepers: [(continuation: CheckedContinuation<Bool, Never>, hasSlept: Bool)] =
        []
      fileprivate var watchers: [CheckedContinuation<Void, Never>] = []

      func perform() {
        for sleeper in sleepers { sleeper.continuation.resume(returning: sleeper.hasSlept) }
        for watcher in watchers { watcher.resume() }
      }
    }

    private struct Sleeper: Sendable {
      let id: Int
      let deadline: Instant
      let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Watcher: Sendable {
      let count: Int
      let continuation: CheckedContinuation<Void, Never>
    }

    private(set) var now = Instant(offset: .zero)
    private var lastID = 0
    private var sleepers: [Sleeper] = []
    private var watchers: [Watcher] = []
    /// Sleepers that were cancelled before they began to sleep.
    private var cancelledEarly: Set<Int> = []

    var sleeperCount: Int { sleepers.count }
    var nextDeadline: Instant? { sleepers.map(\.deadline).min() }

    mutating func makeID() -> Int {
      lastID += 1
      return lastID
    }

    mutating func slept(
      _ id: Int, until deadline: Instant, _ continuation: CheckedContinuation<Bool, Never>
    ) -> Action {
      if cancelledEarly.remove(id) != nil {
        return Action(sleepers: [(continuation, hasSlept: false)])
      }
      if deadline <= now { return Action(sleepers: [(continuation, hasSlept: true)]) }
      sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
      return endedWatches()
    }

    mutating func cancelled(_ id: Int) -> Action {
      guard let index = sleepers.firstIndex(where: { $0.id == id }) else {
        cancelledEarly.insert(id)
        return Action()
      }
      return Action(sleepers: [(sleepers.remove(at: index).continuation, hasSlept: false)])
    }

    /// A sleeper has woken up, so its sleep can no longer be cancelled.
    mutating func left(_ id: Int) { cancelledEarly.remove(id) }

    mutating func advanced(by duration: Duration) -> Action {
      now = now.advanced(by: duration)
      // By deadline, and sleepers with equal deadlines in the order in which they began to sleep.
      let due = sleepers.filter { $0.deadline <= now }
        .sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
      sleepers.removeAll { $0.deadline <= now }
      return Action(sleepers: due.map { ($0.continuation, hasSlept: true) })
    }

    mutating func waited(
      forSleepers count: Int, _ continuation: CheckedContinuation<Void, Never>
    ) -> Action {
      watchers.append(Watcher(count: count, continuation: continuation))
      return endedWatches()
    }

    private mutating func endedWatches() -> Action {
      let ended = watchers.filter { $0.count <= sleepers.count }
      watchers.removeAll { $0.count <= sleepers.count }
      return Action(watchers: ended.map(\.continuation))
    }
  }
}
