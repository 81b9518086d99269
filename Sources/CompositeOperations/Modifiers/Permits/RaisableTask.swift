/// The task of a run that holds permits, whose priority other tasks raise while they wait for these.
///
/// The run ends only when no other task refers to it. It suspends until then, and blocks no thread,
/// because raising a priority calls the handlers of the body.
package struct RaisableTask: ~Copyable, Sendable {
  private struct State: Sendable {
    /// How many tasks raise the priority now.
    var raisingCount = 0
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let task: RunningTask?
  private let state = Lock(State())

  /// - Parameter task: The task; nil for a hold of which no run is known.
  package init(_ task: RunningTask?) { self.task = task }

  /// Keeps the task from ending until ``raise(to:)``. To be called before the run gives its permits
  /// back.
  package func willRaise() { state.withLock { $0.raisingCount += 1 } }

  package func raise(to priority: TaskPriority) {
    task?.escalatePriority(to: priority)
    let waiter = state.withLock { state in
      state.raisingCount -= 1
      return state.raisingCount == 0 ? state.waiter.take() : nil
    }
    waiter?.resume()
  }

  /// Raises the priority from within the task.
  package func raiseOwn(to priority: TaskPriority) { task?.escalatePriority(to: priority) }

  package var isBeingRaised: Bool { state.withLock { $0.raisingCount > 0 } }

  /// Waits until no other task refers to the task.
  package nonisolated(nonsending) func waitUntilRaised() async {
    await withCheckedContinuation { waiter in
      let isBeingRaised = state.withLock { state in
        if state.raisingCount > 0 { state.waiter = waiter }
        return state.raisingCount > 0
      }
      if !isBeingRaised { waiter.resume() }
    }
  }
}
