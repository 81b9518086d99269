import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BlockingOperationTests {
  private struct Failure: Error {}

  @Test func `B3: a function runs on a thread of its own, and its result or error is the outcome`()
    async
  {
    let name = await BlockingOperation { threadName() }.run().result
    #expect(name == "blocking")
    let failing = BlockingOperation<Int> { throw Failure() }
    #expect(await failing.run().error is Failure)
    let threads = BlockingThreads(width: 1, name: "old library")
    #expect(
      await BlockingOperation(on: .threads(threads)) { threadName() }.run().result
        == "old library")
  }

  @Test func `B3: tasks run while functions block every thread`() async {
    let threads = BlockingThreads(width: 8, name: "blocked")
    let blocked = DispatchSemaphore(value: 0)
    let runs = (0..<1_000).map { index in
      BlockingOperation(on: .threads(threads)) {
        blocked.wait()
        return index
      }.start()
    }
    while threads.runningCount < 8 || threads.waitingCount < 992 { await Task.yield() }
    #expect(threads.threadCount == 8)
    #expect(await SimpleOperation { 1 }.run().result == 1)
    for _ in runs { blocked.signal() }
    var sum = 0
    for run in runs { sum += await run.outcome.result ?? 0 }
    #expect(sum == 999 * 1_000 / 2)
  }

  @Test func `B4: cancelling a function that waits for a thread ends its run immediately`() async {
    let threads = BlockingThreads(width: 1, name: "one")
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    let hasRun = Lock(false)
    let waiting = BlockingOperation(on: .threads(threads)) { hasRun.withLock { $0 = true } }.start()
    while threads.waitingCount < 1 { await Task.yield() }
    waiting.cancel()
    #expect(await waiting.outcome.isCancelled)
    gate.signal()
    #expect(await busy.outcome.result != nil)
    #expect(await BlockingOperation(on: .threads(threads)) { 1 }.run().result == 1)
    #expect(hasRun.withLock(\.self) == false)
  }

  @Test func `B4: a running function is notified of a cancellation and awaited`() async {
    let stopped = DispatchSemaphore(value: 0)
    let begun = Lock(0)
    let asking = BlockingOperation { context in
      begun.withLock { $0 += 1 }
      while true { try context.checkCancellation() }
    }.start()
    let handling = BlockingOperation { context in
      context.withCancellationHandler {
        begun.withLock { $0 += 1 }
        stopped.wait()
      } onCancel: {
        stopped.signal()
      }
      return context.isCancelled
    }.start()
    while begun.withLock(\.self) < 2 { await Task.yield() }
    asking.cancel()
    handling.cancel()
    #expect(await asking.outcome.isCancelled)
    #expect(await handling.outcome.isCancelled)
    #expect(await handling.lateOutcome?.result == true)
  }

  @Test func `a function can run on a queue, an actor or an executor`() async {
    let key = DispatchSpecificKey<Int>()
    let queue = DispatchQueue(label: "own")
    queue.setSpecific(key: key, value: 7)
    let place = BlockingOperation(on: .queue(queue)) { DispatchQueue.getSpecific(key: key) }
    #expect(await place.run().result == 7)

    let counter = Counter()
    let isolated = BlockingOperation(on: .actor(counter)) { counter.assumeIsolated { $0.add() } }
    #expect(await isolated.run().result == 1)

    let executor = CountingExecutor()
    let executed = BlockingOperation(on: .executor(executor)) { executor.isCurrent }
    #expect(await executed.run().result == true)
  }

  @Test(arguments: [true, false])
  func `B4: a function on an actor or an executor is notified of a cancellation`(
    isActor: Bool
  ) async {
    let begun = Lock(false)
    let place: BlockingPlace = isActor ? .actor(Counter()) : .executor(CountingExecutor())
    let run = BlockingOperation(on: place) { context in
      begun.withLock { $0 = true }
      while true { try context.checkCancellation() }
    }.start()
    while !begun.withLock(\.self) { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test(arguments: [true, false])
  func `a function that is cancelled before its actor or executor runs it is not called`(
    isActor: Bool
  ) async {
    let place: BlockingPlace = isActor ? .actor(Counter()) : .executor(CountingExecutor())
    let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let hasRun = Lock(false)
    let busy = BlockingOperation(on: place) {
      hasBegun.signal()
      mayEnd.wait()
    }.start()
    await onNewThread { hasBegun.wait() }
    let waiting = BlockingOperation(on: place) { hasRun.withLock { $0 = true } }.start()
    waiting.cancel()
    mayEnd.signal()
    #expect(await waiting.outcome.isCancelled)
    #expect(await busy.outcome.result != nil)
    #expect(hasRun.withLock(\.self) == false)
  }

  private static let places: [BlockingPlace] = [
    .threads, .queue(DispatchQueue(label: "own")), .actor(Counter()), .executor(CountingExecutor()),
  ]

  @Test func `C2: task-local values reach a function, wherever it runs`() async {
    for (number, place) in Self.places.enumerated() {
      let operations: [any ComposableOperation<Int>] = [
        BlockingOperation(on: place) { Request.number },
        BlockingOperation(on: place) { _ in Request.number }.retrying(attempts: 2),
      ]
      for operation in operations {
        let found = await Request.$number.withValue(17) { await operation.run().result }
        #expect(found == 17, "\(number)")
      }
      let unbound = await BlockingOperation(on: place) { Request.number }.run().result
      #expect(unbound == 0, "\(number)")
    }
  }

  @Test func `B4: a function finds a cancellation in its task too`() async {
    for (number, place) in Self.places.enumerated() {
      let begun = Lock(false)
      let run = BlockingOperation(on: place) {
        begun.withLock { $0 = true }
        while true { try Task.checkCancellation() }
      }.start()
      while !begun.withLock(\.self) { await Task.yield() }
      run.cancel()
      #expect(await run.outcome.isCancelled, "\(number)")
    }
  }

  @Test func `O3: a function that cancels its own task ends as cancelled, wherever it runs`() async
  {
    for (number, place) in Self.places.enumerated() {
      for throwsError in [false, true] {
        let discarded = Lock<[Int]>([])
        let operation = BlockingOperation(on: place) {
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          if throwsError { throw Failure() }
          return 3
        }.discarding { value in discarded.withLock { $0.append(value) } }
        let run = operation.start()
        #expect(await run.outcome.isCancelled, "\(number)")
        let late = await run.lateOutcome
        #expect(throwsError ? late?.error is Failure : late?.result == 3, "\(number)")
        #expect(discarded.withLock(\.self) == (throwsError ? [] : [3]), "\(number)")
      }
    }
  }

  @Test func `B4: a cancelled function that still waits for a thread keeps no task`() async {
    let threads = BlockingThreads(width: 1, name: "one")
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    weak var kept: Token?
    await {
      let token = Token()
      kept = token
      // Every task that is created here keeps the token.
      let waiting = Request.$token.withValue(token) {
        BlockingOperation(on: .threads(threads)) {}.start()
      }
      while threads.waitingCount < 1 { await Task.yield() }
      waiting.cancel()
      #expect(await waiting.outcome.isCancelled)
    }()
    while kept != nil { await Task.yield() }
    #expect(threads.waitingCount == 0)
    gate.signal()
    #expect(await busy.outcome.result != nil)
  }

  @Test func `a function can report progress`() async {
    let recorder = RecordingObserver()
    let operation = BlockingOperation { context in context.operationContext.report(1, of: 2) }
      .named(
        "half")
    _ = await operation.run(in: OperationEnvironment(observers: [recorder]))
    let progress = recorder.events(of: "half").filter {
      if case .progressed(1, 2, nil) = $0.kind { true } else { false }
    }
    #expect(progress.count == 1)
  }
}

private enum Request {
  @TaskLocal static var number = 0
  @TaskLocal static var token: Token?
}

private final class Token: Sendable {}

/// An actor with its own queue. Otherwise, a function that runs until it is cancelled would block a
/// thread of Swift's tasks.
private actor Counter {
  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "counter")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  private var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  func add() -> Int {
    count += 1
    return count
  }
}

/// A task executor with one serial queue.
private final class CountingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "executor")
  private let key = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: key, value: true) }

  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
