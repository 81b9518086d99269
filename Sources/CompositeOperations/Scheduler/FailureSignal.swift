/// A signal that passes the first failure from a nested task group to the outermost group of a run,
/// which then cancels all tasks.
///
/// A task group learns of a failure only from its own child task, and a nested group fails only
/// when all of its tasks have ended. So one task of the outermost group waits here, and throws when
/// a branch rings. The wait also ends when no branch is left that can raise.
struct FailureSignal: ~Copyable, Sendable {
  private let machine = Lock(StateMachine())

  /// Registers a task group that can raise. ``branchEnded()`` must follow.
  func branchBegan() { machine.withLock { $0.branchBegan() } }

  func branchEnded() { machine.withLock { $0.branchEnded() }?.resume() }

  func raise() { machine.withLock { $0.raised() }?.resume() }

  /// Waits until a branch rings or none is left.
  nonisolated(nonsending) func wait() async {
    await TaskWaiter.wait { waiter in machine.withLock { $0.waited(waiter) }?.resume() }
  }
}
