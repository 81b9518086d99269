import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// A cancellation while the engine starts a separate task for a body.
@Suite struct StartCancellationTests {
  /// The compositions that run a body in a separate task.
  enum Form: CaseIterable, CustomTestStringConvertible {
    case abandoning, abandoningByClock, conditions, deep, prioritized

    var testDescription: String { "\(self)" }

    func callAsFunction(_ body: SimpleOperation<Void>) -> AnyOperation<Void> {
      switch self {
      case .abandoning: AnyOperation(body.timingOut(after: .seconds(1_000_000), .abandoning))
      case .abandoningByClock:
        AnyOperation(
          body.timingOut(
            until: ManualClock().now.advanced(by: .seconds(1)), on: ManualClock(), .abandoning))
      case .conditions:
        AnyOperation(
          SimpleOperation {}.requiring(
            Condition(body.map { true }), Condition("other") { @Sendable () async in true }))
      case .deep:
        (0..<60).reduce(AnyOperation(body)) { inner, _ in
          AnyOperation(ParallelOperation([inner]).map { _ in })
        }
      case .prioritized: AnyOperation(body.prioritized(at: .high))
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `C2: a cancellation during the start of a task of its own reaches the body`(form: Form) async
  {
    let gate = Gate()
    let seen = Log<Bool>()
    let operation = form(
      SimpleOperation {
        await gate.passIgnoringCancellation()
        seen.add(Task.isCancelled)
      })
    let executor = InterruptingExecutor()
    let task = Task(executorPreference: executor) { await operation.run() }
    executor.runFirstJob {
      task.cancel()
      gate.open()
    }
    gate.open()
    #expect(executor.count > 1)
    #expect(await task.value.isCancelled)
    // A body that has not begun by then need not begin.
    #expect(!seen.entries.contains(false))
  }

  @Test(arguments: [Form.abandoning, .abandoningByClock, .conditions, .deep])
  func `C2: a priority raised during the start of a task of its own reaches the body`(form: Form)
    async
  {
    let gate = Gate()
    let seen = Log<TaskPriority>()
    let operation = form(
      SimpleOperation {
        await gate.passIgnoringCancellation()
        seen.add(Task.currentPriority)
      })
    let executor = InterruptingExecutor()
    let task = Task(executorPreference: executor, priority: .background) { await operation.run() }
    executor.runFirstJob { task.escalatePriority(to: .high) }
    gate.open()
    #expect(executor.count > 1)
    #expect(await task.value.result != nil)
    #expect(seen.entries == [.high])
  }
}

/// Runs each job except the first one on the thread that enqueues it. Calls a closure after the
/// second job, which has then suspended or ended before its enqueuing task continues.
private final class InterruptingExecutor: TaskExecutor, Sendable {
  private struct State: Sendable {
    var count = 0
    var first: UnownedJob?
    var interruption: (@Sendable () -> Void)?
  }

  private let state = Lock(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (isFirst, interruption) = state.withLock { state in
      state.count += 1
      if state.count == 1 { state.first = job }
      return (state.count == 1, state.count == 2 ? state.interruption.take() : nil)
    }
    if isFirst { return }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    interruption?()
  }

  /// The number of jobs.
  var count: Int { state.withLock(\.count) }

  func runFirstJob(interruptingSecondBy interruption: @escaping @Sendable () -> Void) {
    let first = state.withLock { state in
      state.interruption = interruption
      return state.first
    }
    unsafe first?.runSynchronously(on: asUnownedTaskExecutor())
  }
}
