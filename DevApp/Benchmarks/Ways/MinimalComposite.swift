import CompositeOperations
import Synchronization

/// A probe for the composites of this package: an operation that does only what each of them must do.
///
/// A task of its own runs the children, one after another, on the caller's thread. If there are
/// several, a second task is in reserve, because only the caller can create it, and a child that
/// computes must not keep the others from beginning (P6). The results are put in order.
///
/// It has no outcomes, failures, cancellation, limit or observers, and nothing starts the second task
/// while the first one computes.
struct MinimalComposite: ComposableOperation {
  static let name = "minimal composite, results only"

  let children: [any ComposableOperation<UInt64>]

  func perform(in context: OperationContext) async throws -> Slots {
    let run = Run(of: children)
    try await withThrowingDiscardingTaskGroup { group in
      if children.count > 1 {
        group.addTask(executorPreference: run) { try await run.performChildren(in: context) }
      }
      group.addImmediateTask { try await run.performChildren(in: context) }
      run.endReserve()
    }
    return run.results
  }

  /// The shared state of both tasks, and the executor that holds the one in reserve.
  private final class Run: TaskExecutor {
    let results: Slots
    private let children: [any ComposableOperation<UInt64>]
    private let next = Atomic(0)
    private let job = Atomic<UInt>(0)

    init(of children: [any ComposableOperation<UInt64>]) {
      self.children = children
      results = Slots(count: children.count)
    }

    func performChildren(in context: OperationContext) async throws {
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < children.count else { return }
        results[index] = try await children[index].perform(in: context)
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isNew = self.job.compareExchange(
        expected: 0, desired: unsafeBitCast(job, to: UInt.self), ordering: .acquiringAndReleasing
      ).exchanged
      // A child of the second task has waited. The resuming thread continues it.
      if !isNew { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func endReserve() {
      // Keeps the value, so that later jobs of the task run at once.
      let job = job.load(ordering: .acquiring)
      guard job != 0 else { return }
      unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
