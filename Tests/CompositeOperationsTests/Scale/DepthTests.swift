import CompositeOperations
import CompositeOperationsTestKit
import Dispatch
import Foundation
import Testing

/// Many levels of nested operations on a stack of 512 KiB.
///
/// Each test runs in a separate process, because a stack overflow ends the process.
@Suite struct DepthTests {
  @Test(arguments: Nesting.allCases)
  func `C4: 10,000 levels run, fail and are freed on 512 KiB`(nesting: Nesting) async {
    await #expect(processExitsWith: .success) { [name = nesting.rawValue as String] in
      let nesting = try #require(Nesting(rawValue: name))
      await SmallStack.run { _ in
        let suspending = SimpleOperation {
          await Task.yield()
          return 7
        }
        #expect(await deep(nesting, suspending).run().result == 7)
        let failing = deep(nesting, SimpleOperation { throw TestError("failed") })
        let outcome = await failing.run()
        #expect(outcome.error.map { "\($0)".count < 10_000 } == true)
        #expect(outcome.error.map { OperationErrorTree($0).description.count < 100_000 } == true)
        #expect(await failing.ignoringErrors(with: 8).run().result == 8)
      }
    }
  }

  @Test(arguments: Nesting.allCases)
  func `C4: 10,000 levels are cancelled and freed on 512 KiB`(nesting: Nesting) async {
    await #expect(processExitsWith: .success) { [name = nesting.rawValue as String] in
      let nesting = try #require(Nesting(rawValue: name))
      await SmallStack.run { environment in
        let (gate, discarded) = (Gate(), Log<Int>())
        let late = SimpleOperation {
          await gate.passIgnoringCancellation()
          return 7
        }.discarding { discarded.add($0) }
        let run = deep(nesting, late).start(in: environment)
        await gate.waitForArrivals(1)
        run.cancel()
        gate.open()
        #expect(await run.outcome.isCancelled)
        #expect(discarded.entries == (nesting == .discarding ? [] : [7]))
      }
    }
  }

  @Test func `C4: 10,000 levels of all kinds are observed on 512 KiB`() async {
    await #expect(processExitsWith: .success) {
      await SmallStack.run { environment in
        var operation: any ComposableOperation<Int> = SimpleOperation.withContext { context in
          context.path.names.count
        }.named("leaf")
        for level in 0..<Scale.depth {
          operation = Nesting.allCases[level % Nesting.allCases.count].around(operation)
        }
        var kept: OperationEvent?
        do {
          let (recorder, progress) = (RecordingObserver(), ProgressObserver())
          var environment = environment
          environment.observers = [recorder, progress]
          let levels = await AnyOperation(operation).run(in: environment).result
          #expect(progress.progress.fraction == 1)
          kept = recorder.events.first { $0.name == "leaf" }
          #expect(kept?.path.names.count == levels)
        }
        // It keeps the places of all its ancestors.
        kept = nil
      }
    }
  }

  @Test func `C4: a context that is kept below 10,000 timeouts is freed on 512 KiB`() async {
    await #expect(processExitsWith: .success) {
      await SmallStack.run { environment in
        var environment = environment
        environment.clock = ManualClock()
        let limit = Duration.seconds(1_000_000)
        let keeping = (0..<Scale.depth).reduce(
          AnyOperation(SimpleOperation.withContext { context in context })
        ) { inner, _ in AnyOperation(inner.timingOut(after: limit)) }
        var kept = await keeping.run(in: environment).result
        #expect(kept != nil)
        // It keeps the deadlines of all timeouts.
        kept = nil
      }
    }
  }

  @Test func `C4: composites that create their children at run time nest 10,000 levels deep`() async
  {
    struct Countdown: ComposableOperation {
      let count: Int
      func perform(in context: OperationContext) async throws -> Int {
        if count == 0 { return 0 }
        let below = try await context.run(
          ParallelOperation([Countdown(count: count - 1), Countdown(count: 0)]))
        return below[0] + 1
      }
    }
    await #expect(processExitsWith: .success) {
      await SmallStack.run { _ in
        #expect(await Countdown(count: Scale.depth).run().result == Scale.depth)
      }
    }
  }

  @Test func `C4: bodies that run composites without their context nest 10,000 levels deep`() async
  {
    await #expect(processExitsWith: .success) {
      let ends = Countdown(from: Scale.depth)
      #expect(await ends.run().result == Scale.depth)
      await SmallStack.run { environment in
        #expect(await ends.run(in: environment).result == Scale.depth)
      }
    }
  }

  @Test(arguments: Nesting.allCases)
  func `C4: 10,000 levels run and fail on 512 KiB without an executor`(nesting: Nesting) async {
    await #expect(processExitsWith: .success) { [name = nesting.rawValue as String] in
      let nesting = try #require(Nesting(rawValue: name))
      await OwnStack.run {
        #expect(await deep(nesting, SimpleOperation { 7 }).run().result == 7)
      }
      // On another thread, because the rest of a body continues on a thread of the pool.
      await OwnStack.run {
        let failing = deep(nesting, SimpleOperation { throw TestError("failed") })
        #expect(await failing.run().error != nil)
      }
    }
  }

  @Test func `C4: a thread with 256 KiB can cancel composites that are nested on larger stacks`()
    async
  {
    await #expect(processExitsWith: .success) {
      let gate = Gate()
      let waiting = SimpleOperation { try await gate.pass() }
      let run = (0..<2_000).reduce(AnyOperation(waiting)) { inner, _ in
        AnyOperation(ParallelOperation([inner]).map { _ in })
      }.start()
      await gate.waitForArrivals(1)
      await withCheckedContinuation { isDone in
        let small = Thread {
          run.cancel()
          isDone.resume()
        }
        small.stackSize = Scale.isSanitized ? 16 << 20 : 256 << 10
        small.start()
      }
      #expect(await run.outcome.isCancelled)
    }
  }

  @Test(.enabled(if: !Scale.isSanitized, "The sanitizers make frames many times as large."))
  func `C4: under an executor, composites nest 48 levels deep on larger stacks`() async {
    await #expect(processExitsWith: .success) {
      @Sendable func jobs(levels: Int) async -> Int {
        let executor = CountingExecutor()
        let operation = (0..<levels).reduce(AnyOperation(SimpleOperation { 7 })) { inner, _ in
          AnyOperation(ParallelOperation([inner]).map { $0[0] })
        }
        #expect(await operation.run(in: OperationEnvironment(executor: executor)).result == 7)
        return executor.jobs.count
      }
      #expect(await jobs(levels: 40) == 1)
      // Another job for the next stack, and more if the levels around it had to wait for its end.
      #expect(await jobs(levels: 60) > 1)
    }
  }

  @Test func `C4: closures of finally that run the operation again nest 10,000 levels deep`() async
  {
    await #expect(processExitsWith: .success) {
      @Sendable func countdown(from count: Int, into ends: Log<Int>) -> AnyOperation<Int> {
        AnyOperation(
          SimpleOperation { count }.finally { _ in
            if count > 0 { _ = await countdown(from: count - 1, into: ends).run() }
            ends.add(count)
          })
      }
      let ends = Log<Int>()
      #expect(await countdown(from: Scale.depth, into: ends).run().result == Scale.depth)
      #expect(ends.entries == Array(0...Scale.depth))
    }
  }

  @Test func `C4: a closure of finally nests composites on the stack of its run, on 512 KiB`() async
  {
    struct Nested: ComposableOperation {
      let count: Int
      func perform(in context: OperationContext) async throws -> Int {
        if count == 0 { return 0 }
        return try await context.run(ParallelOperation([Nested(count: count - 1)]))[0] + 1
      }
    }
    await #expect(processExitsWith: .success) {
      @Sendable func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
      for levels in [2, 40] {
        await withCheckedContinuation { isDone in
          let small = Thread {
            let canEnd = DispatchSemaphore(value: 0)
            // Without an executor of its own, the task begins on the stack of this thread.
            Task.immediate {
              let own = thread()
              let begun = Log<Bool>()
              let closing = SimpleOperation { 7 }.finally { _ in
                begun.add(thread() == own)
                #expect(await Nested(count: 200).run().result == 200)
              }
              let operation = (0..<levels).reduce(AnyOperation(closing)) { inner, _ in
                AnyOperation(ParallelOperation([inner]).map { $0[0] })
              }
              #expect(await operation.run().result == 7)
              #expect(begun.entries == [levels == 2])
              canEnd.signal()
            }
            // Until then, no other thread can have the same identity.
            canEnd.wait()
            isDone.resume()
          }
          small.stackSize = Scale.isSanitized ? 16 << 20 : 512 << 10
          small.start()
        }
      }
    }
  }

  @Test func `C4: nested results are freed on 512 KiB`() async {
    await #expect(processExitsWith: .success) {
      await SmallStack.run { _ in
        var operation: any ComposableOperation<FinishedSteps> = SequentialOperation(.linear([]))
        for _ in 0..<Scale.depth {
          operation = SequentialOperation(.linear([operation]))
        }
        let steps = await AnyOperation(operation).run().result
        #expect(steps?.count == 1)
        #expect(steps.map { "\($0)".count < 10_000 } == true)
      }
    }
  }

  @Test func `C4: values in 10,000 levels of lost errors are discarded once each`() async {
    await #expect(processExitsWith: .success) {
      await SmallStack.run { _ in
        let discarded = Log<Int>()
        var operation: any ComposableOperation<Int> = SimpleOperation { throw TestError("failed") }
        for level in 0..<Scale.depth {
          let value = SimpleOperation { level }.discarding { discarded.add($0) }
          let children: [any ComposableOperation<Int>] = [value, operation]
          operation = ParallelOperation(children, width: .serial).map { $0[0] }
        }
        #expect(await AnyOperation(operation).ignoringErrors(with: 7).run().result == 7)
        #expect(discarded.entries == (0..<Scale.depth).reversed())
      }
    }
  }

  @Test func `C4: values in 10,000 levels of lost results are discarded once each`() async {
    await #expect(processExitsWith: .success) {
      await SmallStack.run { environment in
        let discarded = Log<Int>()
        var operation: any ComposableOperation<FinishedSteps> = SequentialOperation(.linear([]))
        for level in 0..<Scale.depth {
          let value = SimpleOperation { level }.discarding { discarded.add($0) }
          operation = SequentialOperation(.linear([value, operation]))
        }
        let cancelling = SimpleOperation { cancelCurrentTask() }
        let run = SequentialOperation(.linear([operation, cancelling]))
          .start(in: environment)
        #expect(await run.outcome.isCancelled)
        #expect(discarded.entries.sorted() == Array(0..<Scale.depth))
      }
    }
  }

  @Test func `C4: a name does not grow with the depth`() {
    let names = NameCount()
    var mapped = names.operation(named: "fetch") { 7 }
    var retried = mapped
    var (ofMapped, ofRetried): ([String], [String]) = ([], [])
    for _ in 0..<100 {
      mapped = AnyOperation(mapped).map { $0 }
      retried = AnyOperation(retried).retrying(attempts: 1)
      ofMapped.append(mapped.operationName)
      ofRetried.append(retried.operationName)
    }
    #expect(ofMapped[0] == "fetch.map")
    #expect(ofMapped[7] == "fetch" + String(repeating: ".map", count: 8))
    #expect(ofMapped[8] == "fetch.….map" && ofMapped[30] == "fetch.….map")
    #expect(ofMapped[99] == "….map")
    #expect(ofRetried[0] == "fetch" && ofRetried[30] == "fetch" && ofRetried[99] == "…")
    // Each search covers 64 modifiers, of which every level has two.
    #expect(names.count == 64)
  }

  @Test func `C4: a long path is shown in part`() async throws {
    let paths = Log<OperationPath>()
    var operation: any ComposableOperation<Void> = SimpleOperation.withContext { context in
      paths.add(context.path)
    }.named("0")
    for level in 1...100 {
      operation = AnyOperation(operation).map { $0 }.named("\(level)")
    }
    _ = await operation.run(in: OperationEnvironment(observers: [RecordingObserver()]))
    let path = try #require(paths.entries.first)
    #expect(path.names == (0...100).reversed().map { "\($0)" })
    let first = (69...100).reversed().map { "\($0)" }
    let last = (0...31).reversed().map { "\($0)" }
    #expect("\(path)" == (first + ["… 37 more …"] + last).joined(separator: "/"))
  }

  @Test func `C4: deeply nested observed runs use several tasks`() async {
    // The runtime walks all cancellation handlers of a task to remove one.
    let tasks = Log<Int>()
    var operation: any ComposableOperation<Void> = SimpleOperation {}
    for _ in 0..<200 {
      operation = AnyOperation(operation).onStart {
        unsafe withUnsafeCurrentTask { task in tasks.add(unsafe task?.hashValue ?? 0) }
      }.map { $0 }
    }
    _ = await operation.run(in: OperationEnvironment(observers: [RecordingObserver()]))
    #expect(tasks.count == 200 && (4...8).contains(Set(tasks.entries).count))
  }
}

/// A body that runs the same operation again without its context.
private struct Countdown: ComposableOperation {
  let count: Int

  init(from count: Int) { self.count = count }

  func perform(in context: OperationContext) async throws -> Int {
    if count == 0 { return 0 }
    return try await ParallelOperation([Countdown(from: count - 1)]).run().get()[0] + 1
  }
}

/// Runs a body as an immediate task on the stack of a thread of its own, without an executor.
private enum OwnStack {
  static func run(_ body: @escaping @Sendable () async -> Void) async {
    await withCheckedContinuation { isDone in
      let small = Thread {
        Task.immediate {
          await body()
          isDone.resume()
        }
      }
      // The sanitizers make frames many times as large.
      small.stackSize = Scale.isSanitized ? 16 << 20 : 512 << 10
      small.start()
    }
  }
}

/// Counts the jobs of its tasks, and runs them on the threads of Dispatch.
private final class CountingExecutor: TaskExecutor {
  let jobs = Log<Void>()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.add(())
    DispatchQueue.global().async {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// Returns an operation with nested levels of one kind around it.
private func deep(
  _ nesting: Nesting, _ leaf: some ComposableOperation<Int>
) -> AnyOperation<Int> {
  var operation: any ComposableOperation<Int> = leaf
  for _ in 0..<Scale.depth { operation = nesting.around(operation) }
  return AnyOperation(operation)
}
