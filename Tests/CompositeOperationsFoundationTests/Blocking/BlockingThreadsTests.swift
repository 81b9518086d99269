import CompositeOperations
import CompositeOperationsFoundation
import Dispatch
import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BlockingThreadsTests {
  @Test func `B3: no function is lost if threads end while functions are added`() async {
    let threads = BlockingThreads(width: 3, name: "hasty", endingAfter: .microseconds(1))
    let operation = ParallelOperation(
      (0..<200).map { index in BlockingOperation(on: .threads(threads)) { index } },
      width: .limited(to: 4))
    for _ in 0..<20 { #expect(await operation.run().result == Array(0..<200)) }
    #expect(threads.threadCount <= 3 && threads.waitingCount == 0)
    while threads.threadCount > 0 || threads.runningCount > 0 { await Task.yield() }
  }

  @Test func `a cancelled function leaves the queue, and the others keep their order`() async {
    final class Token: Sendable {}
    let threads = BlockingThreads(width: 1, name: "one")
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    let order = Lock<[Int]>([])
    weak var left: Token?
    var kept: [OperationRun<Void>] = []
    do {
      let token = Token()
      left = token
      var runs: [OperationRun<Void>] = []
      for index in 0..<1_000 {
        runs.append(
          BlockingOperation(on: .threads(threads)) { [token] in
            withExtendedLifetime(token) { order.withLock { $0.append(index) } }
          }.start())
        while threads.waitingCount <= index { await Task.yield() }
      }
      for (index, run) in runs.enumerated() where !index.isMultiple(of: 250) {
        run.cancel()
        #expect(await run.outcome.isCancelled)
      }
      kept = runs.enumerated().filter { $0.offset.isMultiple(of: 250) }.map(\.element)
    }
    #expect(threads.waitingCount == 4)
    gate.signal()
    for run in kept { #expect(await run.outcome.result != nil) }
    #expect(await busy.outcome.result != nil)
    #expect(order.withLock(\.self) == [0, 250, 500, 750])
    kept = []
    while left != nil { await Task.yield() }
  }

  @Test func `a cancelled function is freed while a long function is running`() async {
    final class Token: Sendable {}
    let threads = BlockingThreads(width: 1, name: "one")
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    weak var left: Token?
    do {
      let token = Token()
      left = token
      let run = BlockingOperation(on: .threads(threads)) { withExtendedLifetime(token) {} }.start()
      while threads.waitingCount < 1 { await Task.yield() }
      run.cancel()
      #expect(await run.outcome.isCancelled)
    }
    while left != nil { await Task.yield() }
    #expect(threads.waitingCount == 0 && threads.runningCount == 1)
    gate.signal()
    #expect(await busy.outcome.result != nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a function ends in an error if no thread can be created`() async {
    let threads = BlockingThreads(width: 2, name: "none", endingAfter: .seconds(10)) { _, _ in
      EAGAIN
    }
    for _ in 0..<3 {
      let run = BlockingOperation(on: .threads(threads)) { 1 }
      let error = await run.run().error as? BlockingThreadsError
      #expect(error?.name == "none" && error?.code == EAGAIN)
      #expect(
        error?.description.hasPrefix("Cannot create a thread for blocking functions (none)")
          == true)
      #expect(threads.threadCount == 0 && threads.waitingCount == 0)
    }
    // `add` cannot fail, so it calls the function immediately.
    let hasRun = Lock(false)
    threads.add { hasRun.withLock { $0 = true } }
    #expect(hasRun.withLock(\.self) == true)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a function waits for an existing thread if no further one can be created`() async {
    let count = Lock(0)
    let threads = BlockingThreads(width: 2, name: "one", endingAfter: .seconds(10)) { name, body in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      return isFirst ? SystemThread.start(named: name, body) : EAGAIN
    }
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    let waiting = BlockingOperation(on: .threads(threads)) { 1 }.start()
    while count.withLock(\.self) < 2 || threads.threadCount > 1 { await Task.yield() }
    #expect(threads.waitingCount == 1)
    gate.signal()
    #expect(await waiting.outcome.result == 1)
    #expect(await busy.outcome.result != nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a function that is cancelled while it is enqueued is not in the queue`() async {
    let count = Lock(0)
    let threads = BlockingThreads(width: 2, name: "one", endingAfter: .seconds(10)) { name, body in
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { return SystemThread.start(named: name, body) }
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return EAGAIN
    }
    let gate = DispatchSemaphore(value: 0)
    let busy = BlockingOperation(on: .threads(threads)) { gate.wait() }.start()
    while threads.runningCount < 1 { await Task.yield() }
    #expect(await BlockingOperation(on: .threads(threads)) { 1 }.start().outcome.isCancelled)
    #expect(threads.waitingCount == 0)
    gate.signal()
    #expect(await busy.outcome.result != nil)
  }

  @Test func `a thread name that is too long for the system is truncated`() async {
    let threads = BlockingThreads(width: 1, name: "the threads of an old library")
    let name = await BlockingOperation(on: .threads(threads)) { threadName() }.run().result
    #if os(Linux)
      #expect(name == "the threads of ")
    #else
      #expect(name == "the threads of an old library")
    #endif
  }
}
