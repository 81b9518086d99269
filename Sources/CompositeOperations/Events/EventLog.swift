/// An observer that keeps the last events of one run and of everything below it until the run ends.
final class EventLog: OperationObserver {
  private let machine: Lock<StateMachine>

  /// - Parameter capacity: The number of events to keep.
  init(keeping capacity: Int) { machine = Lock(StateMachine(capacity: capacity)) }

  func observe(_ event: OperationEvent) {
    // The dropped event may hold user values, which are released outside the lock.
    let (forgotten, waiters) = machine.withLock { $0.observed(event) }
    withExtendedLifetime(forgotten) {}
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for an event and returns it.
  ///
  /// - Parameter index: The position of the event among all events. If it has been dropped, the
  ///   oldest kept event is returned.
  /// - Returns: The event and its position; nil after the last event, or if the task is cancelled.
  nonisolated(nonsending) func event(
    at index: Int
  ) async -> (event: OperationEvent, index: Int)? {
    while true {
      switch machine.withLock({ $0.asked(for: index) }) {
      case .event(let event, let index): return (event, index)
      case .isOver: return nil
      case .wait(let number):
        await withTaskCancellationHandler {
          await withCheckedContinuation { waiter in
            machine.withLock { $0.waited(waiter, as: number, for: index) }?.resume()
          }
        } onCancel: {
          machine.withLock { $0.waiters.cancelled(number) }?.resume()
        }
        if Task.isCancelled { return nil }
      }
    }
  }
}

extension EventLog {
  /// The kept events, and the tasks that wait for the next one.
  struct StateMachine: Sendable {
    typealias Waiter = CancellableWaiters.Waiter

    enum Answer: Sendable {
      case event(OperationEvent, at: Int)
      case wait(as: Int)
      case isOver
    }

    private let capacity: Int
    /// A ring buffer: the position of an event is its index modulo the capacity.
    private var kept: [OperationEvent] = []
    private var count = 0
    private var outermost: OperationID?
    private var hasEnded = false
    /// The tasks that wait for the next event.
    var waiters = CancellableWaiters()

    init(capacity: Int) { self.capacity = capacity }

    /// - Returns: The dropped event, for the caller to release, and the waiters to resume.
    mutating func observed(_ event: OperationEvent) -> (OperationEvent?, [Waiter]) {
      if hasEnded { return (nil, []) }
      outermost = outermost ?? event.id
      if case .ended = event.kind, event.id == outermost { hasEnded = true }
      var forgotten: OperationEvent?
      if kept.count < capacity {
        kept.append(event)
      } else {
        forgotten = kept[count % capacity]
        kept[count % capacity] = event
      }
      count += 1
      return (forgotten, waiters.removeAll())
    }

    mutating func asked(for index: Int) -> Answer {
      if index < count {
        let index = max(index, count - kept.count)
        return .event(kept[index % capacity], at: index)
      }
      if hasEnded { return .isOver }
      return .wait(as: waiters.register())
    }

    /// - Returns: The waiter itself if there is nothing to wait for.
    mutating func waited(_ waiter: Waiter, as number: Int, for index: Int) -> Waiter? {
      guard index < count else { return waiters.waits(waiter, as: number) }
      waiters.remove(number)
      return waiter
    }
  }
}
