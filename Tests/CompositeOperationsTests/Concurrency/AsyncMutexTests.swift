import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct AsyncMutexTests {
  @Test func `waiters acquire the mutex in FIFO order, cancellable or not`() async throws {
    let mutex = AsyncMutex()
    let log = Log<Int>()
    try await mutex.acquire()
    // An immediate task waits when its initializer returns.
    let tasks = (0..<20).map { index in
      Task.immediate {
        if index.isMultiple(of: 2) {
          try await mutex.acquire()
        } else {
          await mutex.acquireIgnoringCancellation()
        }
        log.add(index)
        mutex.release()
      }
    }
    #expect(mutex.count == 21)
    #expect(!mutex.tryAcquire())
    mutex.release()
    for task in tasks { try await task.value }
    #expect(log.entries == Array(0..<20))
    #expect(mutex.count == 0)
    #expect(mutex.tryAcquire())
  }

  @Test func `a cancelled waiter throws immediately, and the others keep their order`()
    async throws
  {
    let mutex = AsyncMutex()
    let log = Log<Int>()
    try await mutex.acquire()
    let tasks = (0..<6).map { index in
      Task.immediate {
        try await mutex.acquire()
        log.add(index)
        mutex.release()
      }
    }
    for index in [0, 3, 5] {
      tasks[index].cancel()
      await #expect(throws: CancellationError.self) { try await tasks[index].value }
    }
    #expect(mutex.count == 4)
    mutex.release()
    for index in [1, 2, 4] { try await tasks[index].value }
    #expect(log.entries == [1, 2, 4])
    #expect(mutex.count == 0)
  }

  @Test func `a task that is already cancelled does not acquire a free mutex`() async throws {
    let mutex = AsyncMutex()
    let gate = Gate()
    let task = Task {
      try? await gate.pass()
      try await mutex.acquire()
    }
    await gate.waitForArrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(mutex.count == 0)
  }

  @Test func `a waiter that ignores cancellation acquires the mutex`() async throws {
    let mutex = AsyncMutex()
    try await mutex.acquire()
    let task = Task.immediate {
      await mutex.acquireIgnoringCancellation()
      mutex.release()
    }
    task.cancel()
    #expect(mutex.count == 2)
    mutex.release()
    await task.value
    #expect(mutex.count == 0)
  }

  @Test func `thousands of cancelled waiters leave the mutex to the one that remains`()
    async throws
  {
    let mutex = AsyncMutex()
    try await mutex.acquire()
    var tasks = (0..<1_000).map { _ in Task.immediate { try await mutex.acquire() } }
    let last = Task.immediate { try await mutex.acquire() }
    tasks += (0..<1_000).map { _ in Task.immediate { try await mutex.acquire() } }
    #expect(mutex.count == 2_002)
    for task in tasks {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(mutex.count == 2)
    mutex.release()
    try await last.value
    #expect(mutex.count == 1)
    mutex.release()
    #expect(mutex.count == 0)
  }

  @Test func `a task can wait until the mutex is idle`() async throws {
    let mutex = AsyncMutex()
    let log = Log<String>()
    await mutex.waitUntilIdle()
    try await mutex.acquire()
    let waiter = Task.immediate {
      try await mutex.acquire()
      log.add("acquired")
      mutex.release()
    }
    let idle = Task.immediate {
      await mutex.waitUntilIdle()
      log.add("idle")
    }
    mutex.release()
    await idle.value
    try await waiter.value
    #expect(log.entries == ["acquired", "idle"])
  }

  @Test func `one task at a time holds the mutex, whichever waiters are cancelled`() async {
    let mutex = AsyncMutex()
    let crowd = Crowd()
    await withTaskGroup { group in
      for number in 0..<400 {
        group.addTask {
          let task = Task {
            if number.isMultiple(of: 5) {
              await mutex.acquireIgnoringCancellation()
            } else {
              try await mutex.acquire()
            }
            crowd.enter()
            if number.isMultiple(of: 3) { await Task.yield() }
            crowd.leave()
            mutex.release()
          }
          if number.isMultiple(of: 2) {
            if number.isMultiple(of: 4) { await Task.yield() }
            task.cancel()
          }
          _ = await task.result
        }
      }
    }
    #expect(crowd.most == 1)
    #expect(mutex.count == 0)
  }
}
