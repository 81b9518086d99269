/// Brings the first failure from any depth of a crew to its outermost group, which cancels all.
///
/// A task group learns of a failed child only from the child itself, and a group within a group
/// fails only when all its children have ended. So one child of the outermost group waits here and
/// throws when somebody rings. It is let go when no branch is left that could.
struct Alarm: ~Copyable, Sendable {
  private let machine = Lock(StateMachine())

  /// A group that could ring has begun; to be followed by ``branchEnded()``.
  func branchBegan() { machine.withLock { $0.branchBegan() } }

  func branchEnded() { machine.withLock { $0.branchEnded() }?.resume() }

  func ring() { machine.withLock { $0.rung() }?.resume() }

  /// Waits until somebody rings or no branch is left.
  nonisolated(nonsending) func wait() async {
    await TaskWaiter.wait { waiter in machine.withLock { $0.waited(waiter) }?.resume() }
  }
}
