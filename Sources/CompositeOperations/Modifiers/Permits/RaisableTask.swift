internal import Synchronization

/// The task of a run that holds permits, whose priority other tasks raise while they wait for these.
///
/// This keeps the memory of the task: the run ends only when no other task refers to it. It suspends
/// until then, and blocks no thread, because raising a priority calls the handlers of the body.
package struct RaisableTask: ~Copyable, Sendable {
  private let task: RunningTask?
  /// How many tasks raise the priority now, and how many runs (at most one) wait for their end.
  private let references = Atomic(0)
  private let waiter = Lock<TaskWaiter?>(nil)

  /// - Parameter task: The task; nil for a hold of which no run is known.
  package init(_ task: RunningTask?) { self.task = task }

  /// Keeps the task from ending until ``raise(to:)``. To be called before the run gives its permits
  /// back.
  package func willRaise() { references.add(1, ordering: .relaxed) }

  package func raise(to priority: TaskPriority) {
    task?.escalatePriority(to: priority)
    release()
  }

  private func release() {
    let (_, left) = references.subtract(1, ordering: .acquiringAndReleasing)
    if left == 0 { waiter.withLock { $0.take() }?.resume() }
  }

  /// Raises the priority from within the task.
  func raiseOwn(to priority: TaskPriority) { task?.escalatePriority(to: priority) }

  package var isBeingRaised: Bool { references.load(ordering: .acquiring) > 0 }

  /// Waits until no other task refers to the task. To be called once.
  package nonisolated(nonsending) func waitUntilRaised() async {
    references.add(1, ordering: .relaxed)
    await TaskWaiter.wait { waiter in
      self.waiter.withLock { $0 = waiter }
      release()
    }
  }
}
