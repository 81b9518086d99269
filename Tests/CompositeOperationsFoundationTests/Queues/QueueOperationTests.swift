import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct QueueOperationTests {
  private struct Failure: Error {}

  private let queue = OperationQueue()

  @Test func `B1: the outcome is available when the operation has finished in its queue`() async {
    let operation = QueueOperation(SimpleOperation { 7 }.named("seven"))
    #expect(operation.outcome == nil && !operation.isFinished && !operation.isExecuting)
    #expect(operation.name == "seven" && operation.isAsynchronous && operation.isReady)
    let seen = await withCheckedContinuation { continuation in
      operation.completionBlock = { continuation.resume(returning: operation.outcome?.result) }
      queue.addOperation(operation)
    }
    // The block captures the operation, and on Linux the operation keeps the block.
    operation.completionBlock = nil
    #expect(seen == 7)
    #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
  }

  @Test func `a thread can wait for a queue operation`() async {
    let operation = queue.addOperation(SimpleOperation { "done" })
    await onNewThread { operation.waitUntilFinished() }
    #expect(operation.outcome?.result == "done")
  }

  @Test func `B1: dependents begin when the operation has ended, even in an error`() async {
    let log = Lock<[String]>([])
    let failing = QueueOperation(
      SimpleOperation {
        await Task.yield()
        log.withLock { $0.append("composable") }
        throw Failure()
      })
    let before = BlockOperation { log.withLock { $0.append("before") } }
    let after = BlockOperation { log.withLock { $0.append("after") } }
    failing.addDependency(before)
    after.addDependency(failing)
    await onNewThread { [queue] in
      queue.addOperations([after, failing, before], waitUntilFinished: true)
    }
    #expect(log.withLock(\.self) == ["before", "composable", "after"])
    #expect(failing.outcome?.error is Failure)
  }

  @Test func `an operation that is cancelled before it begins never begins`() async {
    let hasRun = Lock(false)
    let operation = QueueOperation(SimpleOperation { hasRun.withLock { $0 = true } })
    operation.cancel()
    await onNewThread { [queue] in queue.addOperations([operation], waitUntilFinished: true) }
    #expect(operation.outcome?.isCancelled == true && operation.isCancelled)
    #expect(hasRun.withLock(\.self) == false)
  }

  @Test func `B1: cancelling a running operation cancels the run`() async {
    let gate = Gate()
    let operation = queue.addOperation(SimpleOperation { try await gate.pass() })
    await gate.waitForArrivals(1)
    #expect(operation.isExecuting)
    queue.cancelAllOperations()
    await onNewThread { operation.waitUntilFinished() }
    #expect(operation.outcome?.isCancelled == true)
  }

  @Test func `an operation counts toward the width of its queue until it has ended`() async {
    let running = Lock((now: 0, most: 0))
    queue.maxConcurrentOperationCount = 2
    let operations = (0..<20).map { _ in
      QueueOperation(
        SimpleOperation {
          running.withLock { running in
            running.now += 1
            running.most = max(running.most, running.now)
          }
          for _ in 0..<10 { await Task.yield() }
          running.withLock { $0.now -= 1 }
        })
    }
    await onNewThread { [queue] in queue.addOperations(operations, waitUntilFinished: true) }
    #expect(operations.allSatisfy { $0.outcome?.result != nil })
    let most = running.withLock { $0.most }
    #expect((1...2).contains(most))
  }

  @Test func `the run has the environment of its operation`() async {
    let recorder = RecordingObserver()
    let operation = QueueOperation(
      SimpleOperation {}.named("look"), in: OperationEnvironment(observers: [recorder]))
    await onNewThread { [queue] in queue.addOperations([operation], waitUntilFinished: true) }
    #expect(recorder.events(of: "look").count == 3)
  }

  /// Each quality of service and its task priority.
  private static let services: [(QualityOfService, TaskPriority)] = [
    (.userInteractive, .userInitiated), (.userInitiated, .userInitiated), (.utility, .utility),
    (.background, .background),
  ]

  @Test(arguments: services) func `the run has the priority of its quality of service`(
    service: QualityOfService, priority: TaskPriority
  ) async {
    queue.qualityOfService = service == .utility ? .background : .utility
    let operation = QueueOperation(SimpleOperation { Task.currentPriority })
    operation.qualityOfService = service
    await onNewThread { [queue] in queue.addOperations([operation], waitUntilFinished: true) }
    #expect(operation.outcome?.result == priority)
  }

  @Test(arguments: services)
  func `the run has the priority of its queue if it has no quality of service`(
    service: QualityOfService, priority: TaskPriority
  ) async {
    queue.qualityOfService = service
    let operation = QueueOperation(SimpleOperation { Task.currentPriority })
    await onNewThread { [queue] in queue.addOperations([operation], waitUntilFinished: true) }
    #expect(operation.outcome?.result == priority)
  }

  @Test func `operations with a higher queue priority begin first`() async {
    let order = Lock<[Int]>([])
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let priorities: [Foundation.Operation.QueuePriority] = [
      .low, .veryHigh, .normal, .veryLow, .high, .normal,
    ]
    for (index, priority) in priorities.enumerated() {
      let operation = QueueOperation(
        SimpleOperation {
          await Task.yield()
          order.withLock { $0.append(index) }
        })
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    await onNewThread { [queue] in queue.waitUntilAllOperationsAreFinished() }
    #expect(order.withLock(\.self) == [1, 4, 2, 5, 0, 3])
  }

  @Test func `a composite runs in a queue and is cancelled as a whole`() async {
    let sum = ParallelOperation((1...10).map { number in SimpleOperation { number } })
      .map { $0.reduce(0, +) }
    let steps = QueueOperation(sum.then { total in SimpleOperation { total + 1 } })
    let gate = Gate()
    let held = QueueOperation(
      ParallelOperation((0..<3).map { _ in SimpleOperation { try await gate.pass() } }))
    let children = (0..<3).map { index in SimpleOperation { if index == 1 { throw Failure() } } }
    let failing = QueueOperation(ParallelOperation(children))
    steps.addDependency(failing)
    let operations: [Foundation.Operation] = [steps, held, failing]
    for operation in operations { queue.addOperation(operation) }
    await onNewThread { steps.waitUntilFinished() }
    #expect(steps.outcome?.result == 56)
    #expect((failing.outcome?.error as? ParallelOperationError)?.failures.count == 1)
    await gate.waitForArrivals(3)
    held.cancel()
    await onNewThread { held.waitUntilFinished() }
    #expect(held.outcome?.isCancelled == true)
  }

  @Test
  func `B1: an operation that is cancelled as it begins ends once, cancelled or with its value`()
    async
  {
    for _ in 0..<2_000 {
      let operation = QueueOperation(SimpleOperation { 1 })
      queue.addOperation(operation)
      DispatchQueue.global().async { operation.cancel() }
      await onNewThread { operation.waitUntilFinished() }
      #expect(operation.outcome?.isCancelled == true || operation.outcome?.result == 1)
    }
  }
}
