import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The priorities of runs that hold permits, on an executor that runs one job after another.
@Suite(.timeLimit(.minutes(10))) struct PermitPriorityTests {
  private let executor = InOrderExecutor()
  private let gate = Gate()
  private let seen = Log<TaskPriority>()

  /// Waits for the gate, then records the priority of its task.
  private var recording: SimpleOperation<Void> {
    SimpleOperation { [gate, seen] in
      try await gate.pass()
      seen.add(Task.currentPriority)
    }
  }

  @discardableResult private func start(
    _ operation: some ComposableOperation, at priority: TaskPriority
  ) -> Task<Bool, Never> {
    Task(executorPreference: executor, priority: priority) {
      await operation.run().result != nil
    }
  }

  /// The compositions whose work is below the permits.
  enum Form: CaseIterable, CustomTestStringConvertible {
    case body, child, list, taskOfItsOwn, shared, submitted

    var testDescription: String { "\(self)" }

    func callAsFunction(
      _ body: SimpleOperation<Void>, on executor: InOrderExecutor
    ) -> any ComposableOperation<Void> {
      switch self {
      case .body: body
      case .child: SimpleOperation.withContext { context in try await context.run(body) }
      case .list: ParallelOperation([body, SimpleOperation {}]).map { _ in }
      case .taskOfItsOwn: body.timingOut(after: .seconds(1_000_000), .abandoning)
      case .shared: body.shared(in: SharedRuns<Int, Void>(), for: 1)
      case .submitted:
        body.submitted(
          to: OperationPool(in: OperationEnvironment(executor: executor)))
      }
    }
  }

  @Test(arguments: Form.allCases)
  func `E6: runs that hold permits have the priority of the highest waiter`(form: Form) async {
    let (one, two) = (Permits(2, name: "one"), Permits(1, name: "two"))
    start(form(recording, on: executor).limited(by: one), at: .background)
    start(form(recording, on: executor).limited(by: one).exclusive(in: two), at: .utility)
    executor.drain()
    let waiting = [
      start(SimpleOperation {}.exclusive(in: one), at: .medium),
      start(SimpleOperation {}.limited(by: one), at: .high),
      start(SimpleOperation {}.limited(by: two), at: .low),
    ]
    executor.drain()
    gate.open()
    executor.drain()
    for task in waiting { #expect(await task.value) }
    #expect(seen.entries == [.high, .high])
  }

  @Test func `E6: a run that gets permits before a higher waiter has its priority from the start`()
    async
  {
    let permits = Permits(1)
    let first = Gate()
    start(SimpleOperation { try await first.pass() }.limited(by: permits), at: .background)
    executor.drain()
    let next = start(
      SimpleOperation { [seen] in seen.add(Task.currentPriority) }.limited(by: permits),
      at: .background)
    executor.drain()
    start(SimpleOperation {}.limited(by: permits), at: .high)
    executor.drain()
    first.open()
    executor.drain()
    #expect(await next.value)
    #expect(seen.entries == [.high])
  }

  @Test func `E6: a run that gets permits before a higher waiter continues with its priority`()
    async
  {
    /// Records the priorities of jobs.
    final class Recorder: TaskExecutor {
      let executor = InOrderExecutor()
      let priorities = Log<TaskPriority>()

      func enqueue(_ job: consuming ExecutorJob) {
        priorities.add(TaskPriority(job.priority) ?? .medium)
        executor.enqueue(job)
      }
    }
    let recorder = Recorder()
    let permits = Permits(1)
    let first = Gate()
    let operations = [SimpleOperation { try await first.pass() }, SimpleOperation {}]
    var tasks: [Task<Bool, Never>] = []
    for operation in operations {
      let limited = operation.limited(by: permits)
      tasks.append(
        Task(executorPreference: recorder, priority: .background) {
          await limited.run().result != nil
        })
      recorder.executor.drain()
    }
    start(SimpleOperation {}.limited(by: permits), at: .high)
    executor.drain()
    recorder.priorities.clear()
    first.open()
    recorder.executor.drain()
    for task in tasks { #expect(await task.value) }
    // The jobs of the holder, and of the waiter that gets its permit.
    #expect(Set(recorder.priorities.entries.map(\.rawValue)) == [TaskPriority.high.rawValue])
    executor.drain()
  }

  @Test func `E6: a waiter that comes between the grant and the start of a run raises it`() async {
    let permits = Permits(1)
    let first = Gate()
    start(SimpleOperation { try await first.pass() }.limited(by: permits), at: .background)
    executor.drain()
    let next = start(recording.limited(by: permits), at: .background)
    executor.drain()
    // In this order: the holder ends, the waiter begins to wait, and the next run continues.
    first.open()
    start(SimpleOperation {}.limited(by: permits), at: .high)
    executor.drain()
    gate.open()
    executor.drain()
    #expect(await next.value)
    #expect(seen.entries == [.high])
  }

  /// An operation that ends when its priority is high.
  private var endingWhenHigh: SimpleOperation<Void> {
    SimpleOperation {
      let isHigh = Gate()
      await withTaskPriorityEscalationHandler {
        if Task.currentPriority == .high { isHigh.open() }
        await isHigh.passIgnoringCancellation()
      } onPriorityEscalated: { _, priority in
        if priority == .high { isHigh.open() }
      }
    }
  }

  @Test
  func `E6: the priority of a waiter that is raised later reaches the runs that hold permits`()
    async
  {
    let permits = Permits(1)
    let ending = endingWhenHigh
    let holder = Task(priority: .background) {
      await ending.limited(by: permits).run().result != nil
    }
    while permits.leftCount > 0 { await Task.yield() }
    let waiting = [TaskPriority.background, .low].map { priority in
      Task(priority: priority) {
        await SimpleOperation {}.limited(by: permits).run().result != nil
      }
    }
    while permits.waitingCount < 2 { await Task.yield() }
    waiting[0].escalatePriority(to: .high)
    // Not by `value`, which would raise the priority of the task.
    while permits.waitingCount > 0 { await Task.yield() }
    #expect(await holder.value)
    for task in waiting { #expect(await task.value) }
  }

  @Test(arguments: [4, Scale.depth])
  func `E6: a priority reaches the last of many runs that wait for one another`(count: Int) async {
    let permits = (0..<count).map { _ in Permits(1) }
    let last = start(endingWhenHigh.limited(by: permits[count - 1]), at: .background)
    executor.drain()
    for level in (0..<count - 1).reversed() {
      let inner = SimpleOperation {}.limited(by: permits[level + 1])
      let outer = SimpleOperation.withContext { context in try await context.run(inner) }
      start(outer.limited(by: permits[level]), at: .background)
      executor.drain()
    }
    let hasEnded = Flag()
    start(SimpleOperation { hasEnded.set() }.limited(by: permits[0]), at: .high)
    // Each priority is passed on by another thread.
    while !hasEnded.isSet {
      executor.drain()
      await Task.yield()
    }
    #expect(await last.value)
  }

  @Test func `E6: a waiter that has left raises no later run`() async {
    let permits = Permits(1)
    let first = Gate()
    start(SimpleOperation { try await first.pass() }.limited(by: permits), at: .background)
    executor.drain()
    let next = start(recording.limited(by: permits), at: .background)
    let waiting = start(SimpleOperation {}.limited(by: permits), at: .high)
    executor.drain()
    waiting.cancel()
    executor.drain()
    #expect(await !waiting.value)
    first.open()
    gate.open()
    executor.drain()
    #expect(await next.value)
    #expect(seen.entries == [.background])
  }

  @Test func `E6: a run ends when nothing raises its priority any more`() async {
    final class Raised: Sendable {
      let task = RaisableTask(nil)
      var isBeingRaised: Bool { task.isBeingRaised }
    }
    let raised = Raised()
    raised.task.willRaise()
    raised.task.willRaise()
    let ended = Flag()
    let run = Task(executorPreference: executor) {
      await raised.task.waitUntilRaised()
      ended.set()
    }
    executor.drain()
    #expect(raised.isBeingRaised)
    raised.task.raise(to: .high)
    executor.drain()
    #expect(!ended.isSet)
    raised.task.raise(to: .high)
    executor.drain()
    #expect(ended.isSet)
    await run.value
    #expect(!raised.isBeingRaised)
    await raised.task.waitUntilRaised()
  }

  @Test func `E6: runs that end while waiters raise them all end, and give their permits back`()
    async
  {
    let permits = [Permits(2), Permits(1), Permits(3)]
    let priorities: [TaskPriority] = [.background, .low, .medium, .high]
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          var random = SystemRandomNumberGenerator()
          for round in 0..<Scale.cases(3_000) {
            let inner = SimpleOperation { await Task.yield() }
              .limited(by: permits[(number + round) % 3])
            let outer = SimpleOperation.withContext { context in
              // Is refused if it would wait forever.
              _ = await context.outcome(of: inner)
            }.limited(by: permits[round % 3])
            let task = Task(priority: priorities.randomElement(using: &random)) {
              await outer.run()
            }
            for _ in 0..<(random.next() % 4) { await Task.yield() }
            if round % 2 == 0 { task.escalatePriority(to: .high) }
            if round % 3 == 0 { task.cancel() }
            let outcome = await task.value
            #expect(round % 3 == 0 || outcome.result != nil)
          }
        }
      }
    }
    #expect(permits.map(\.leftCount) == [2, 1, 3])
  }
}
