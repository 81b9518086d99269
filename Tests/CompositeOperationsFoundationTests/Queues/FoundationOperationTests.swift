import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

/// A typical asynchronous subclass of `Operation`, with its own state.
private final class LegacyFetch: Foundation.Operation, @unchecked Sendable {
  private enum State { case ready, executing, finished }

  private let state = Lock(State.ready)
  private let text = Lock<String?>(nil)
  private let isHeld: Bool

  /// - Parameter isHeld: Whether the operation runs until it is cancelled.
  init(isHeld: Bool = false) { self.isHeld = isHeld }

  var page: String? { text.withLock(\.self) }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state.withLock { $0 == .executing } }
  override var isFinished: Bool { state.withLock { $0 == .finished } }

  override func start() {
    if isCancelled { return end() }
    willChangeValue(for: \.isExecuting)
    state.withLock { $0 = .executing }
    didChangeValue(for: \.isExecuting)
    if isHeld { return }
    DispatchQueue.global().async {
      self.text.withLock { $0 = "page" }
      self.end()
    }
  }

  override func cancel() {
    super.cancel()
    if isExecuting { end() }
  }

  private func end() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    state.withLock { $0 = .finished }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

@Suite(.timeLimit(.minutes(10))) struct FoundationOperationTests {
  private struct NoPage: Error {}

  @Test func `B2: the result is read from the operation when it has finished`() async {
    let fetch = FoundationOperation {
      LegacyFetch()
    } result: {
      $0.page ?? "none"
    }
    #expect(fetch.operationName == "LegacyFetch")
    #expect(await fetch.run().result == "page")
    // Every run creates a new operation.
    #expect(await fetch.run().result == "page")
    #expect(await FoundationOperation { BlockOperation {} }.run().result != nil)
    let failing = FoundationOperation {
      LegacyFetch()
    } result: { _ -> Int in
      throw NoPage()
    }
    #expect(await failing.run().error is NoPage)
  }

  @Test func `B2: the completion block and the dependencies of the operation are kept`() async {
    let log = Lock<[String]>([])
    let queue = OperationQueue()
    queue.name = "legacy"
    let first = BlockOperation { log.withLock { $0.append("first") } }
    let step = FoundationOperation(in: queue) {
      let second = BlockOperation {
        log.withLock { $0.append("second in \(OperationQueue.current?.name ?? "none")") }
      }
      second.addDependency(first)
      second.completionBlock = { log.withLock { $0.append("completion") } }
      return second
    } result: { _ in
      log.withLock { $0.append("result") }
    }
    let run = step.start()
    while queue.operationCount == 0 { await Task.yield() }
    queue.addOperation(first)
    #expect(await run.outcome.result != nil)
    #expect(log.withLock(\.self) == ["first", "second in legacy", "completion", "result"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `B2: a run does not end before the completion block has run`() async {
    let queue = OperationQueue()
    for _ in 0..<100 {
      let log = Lock<[String]>([])
      let step = FoundationOperation {
        let block = BlockOperation {}
        let dependent = BlockOperation {}
        dependent.addDependency(block)
        block.completionBlock = {
          // By now, everything that waits for the operation knows that it has finished.
          queue.addOperations([dependent], waitUntilFinished: true)
          log.withLock { $0.append("completion") }
        }
        return block
      } result: { _ in
        log.withLock { $0.append("result") }
      }
      #expect(await step.run().result != nil)
      #expect(log.withLock { $0 } == ["completion", "result"])
    }
  }

  @Test func `an operation that has already begun is an error that names it`() async {
    let block = BlockOperation {}
    block.start()
    let error = await FoundationOperation { block }.run().error as? FoundationOperationError
    #expect(error?.operation.contains("BlockOperation") == true)
    #expect(error?.description.contains("Create a new one") == true)
  }

  @Test func `B2: the operation is cancelled with its composite`() async {
    let made = Lock<LegacyFetch?>(nil)
    let held = FoundationOperation { () -> LegacyFetch in
      let fetch = LegacyFetch(isHeld: true)
      made.withLock { $0 = fetch }
      return fetch
    } result: {
      $0.page
    }
    let failing = SimpleOperation<String?> {
      while made.withLock({ $0?.isExecuting }) != true { await Task.yield() }
      throw NoPage()
    }
    let outcome = await ParallelOperation([AnyOperation(held), AnyOperation(failing)]).run()
    let evidence = outcome.error as? ParallelOperationError
    #expect(evidence?.failures.count == 1)
    #expect(made.withLock { $0?.isCancelled } == true && made.withLock { $0?.isFinished } == true)
  }

  @Test func `B2: a cancelled run does not wait for an operation that is still in its queue`() async
  {
    let hasRun = Lock(false)
    let queue = OperationQueue()
    queue.isSuspended = true
    let run = FoundationOperation(in: queue) {
      BlockOperation { hasRun.withLock { $0 = true } }
    }.start()
    while queue.operationCount == 0 { await Task.yield() }
    run.cancel()
    #expect(await run.outcome.isCancelled)
    queue.isSuspended = false
    await onNewThread { queue.waitUntilAllOperationsAreFinished() }
    #expect(hasRun.withLock(\.self) == false)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a run that is cancelled after the operation has finished awaits the completion block`()
    async
  {
    let log = Lock<[String]>([])
    let (isInBlock, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let run = FoundationOperation {
      let block = BlockOperation { log.withLock { $0.append("body") } }
      block.completionBlock = {
        isInBlock.signal()
        mayReturn.wait()
        log.withLock { $0.append("completion") }
      }
      return block
    }.start()
    let ended = Task {
      let outcome = await run.outcome
      log.withLock { $0.append("end") }
      return outcome
    }
    await onNewThread { isInBlock.wait() }
    run.cancel()
    // Gives a run that does not wait the time to end.
    for _ in 0..<1_000 where log.withLock({ $0.count }) == 1 { await onNewThread {} }
    mayReturn.signal()
    #expect(await ended.value.isCancelled)
    #expect(log.withLock(\.self) == ["body", "completion", "end"])
  }

  @Test(.timeLimit(.minutes(10)))
  func `an operation that is cancelled before it is enqueued finishes, and dependents run`() async {
    let log = Lock<[String]>([])
    let after = BlockOperation { log.withLock { $0.append("after") } }
    let hasCompleted = DispatchSemaphore(value: 0)
    let run = FoundationOperation {
      let block = BlockOperation { log.withLock { $0.append("body") } }
      block.completionBlock = { hasCompleted.signal() }
      after.addDependency(block)
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return block
    }.start()
    #expect(await run.outcome.isCancelled)
    await onNewThread {
      OperationQueue().addOperations([after], waitUntilFinished: true)
      hasCompleted.wait()
    }
    #expect(log.withLock(\.self) == ["after"])
  }

  @Test func `an operation that finishes when it is cancelled is not enqueued`() async {
    final class FinishesOnCancel: Foundation.Operation, @unchecked Sendable {
      private let isOver = Lock(false)

      override var isFinished: Bool { isOver.withLock(\.self) }

      override func cancel() {
        super.cancel()
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
      }
    }
    let run = FoundationOperation {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return FinishesOnCancel()
    }
    #expect(await run.start().outcome.isCancelled)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a run ends if the completion block is replaced while the operation runs`() async {
    let hasCompleted = DispatchSemaphore(value: 0)
    let made = Lock<BlockOperation?>(nil)
    let operation = FoundationOperation {
      let block = BlockOperation {
        made.withLock(\.self)?.completionBlock = { hasCompleted.signal() }
      }
      made.withLock { $0 = block }
      return block
    }
    #expect(await operation.run().result != nil)
    await onNewThread { hasCompleted.wait() }
    made.withLock { $0 = nil }
  }

  @Test func `a run whose operation is cancelled elsewhere ends as cancelled`() async {
    let made = Lock<LegacyFetch?>(nil)
    let run = FoundationOperation { () -> LegacyFetch in
      let fetch = LegacyFetch(isHeld: true)
      made.withLock { $0 = fetch }
      return fetch
    } result: {
      $0.page
    }.start()
    while made.withLock({ $0?.isExecuting }) != true { await Task.yield() }
    made.withLock(\.self)?.cancel()
    #expect(await run.outcome.isCancelled)
  }

  @Test func `B2: a run that is cancelled at any time ends`() async {
    for _ in 0..<1_000 {
      let run = FoundationOperation {
        LegacyFetch()
      } result: {
        $0.page
      }.start()
      DispatchQueue.global().async { run.cancel() }
      let outcome = await run.outcome
      #expect(outcome.isCancelled || outcome.result == "page")
    }
  }
}
