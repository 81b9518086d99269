import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct UnfairAsyncMutexTests {
  @Test func `one task at a time holds the mutex, and no waiter is forgotten`() async {
    let mutex = UnfairAsyncMutex()
    let tally = Tally()
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask {
          for round in 0..<2_000 {
            if (round + number).isMultiple(of: 5) { await mutex.waitUntilIdle() }
            while !mutex.tryAcquire(attempts: 1) { await mutex.waitForRelease() }
            tally.addOne()
            if round.isMultiple(of: 7) { await Task.yield() }
            mutex.release()
          }
        }
      }
    }
    #expect(tally.count == 16_000)
    #expect(mutex.tryAcquire(attempts: 1))
  }

  @Test func `a task that releases the mutex can acquire it before the waiter that it woke`() {
    let mutex = UnfairAsyncMutex()
    let log = Log<Int>()
    let executor = SeededExecutor(seed: 1)
    #expect(mutex.tryAcquire(attempts: 1))
    for number in 0..<3 {
      Task(executorPreference: executor) {
        while !mutex.tryAcquire(attempts: 1) { await mutex.waitForRelease() }
        log.add(number)
        mutex.release()
      }
    }
    executor.drain()
    mutex.release()
    #expect(mutex.tryAcquire(attempts: 1))
    // The waiter that has been woken finds the mutex held, and waits again.
    executor.drain()
    #expect(log.count == 0)
    mutex.release()
    executor.drain()
    #expect(log.entries.sorted() == [0, 1, 2])
  }

  @Test func `the mutex is idle when no task holds it or waits for it`() {
    let mutex = UnfairAsyncMutex()
    let log = Log<String>()
    let executor = SeededExecutor(seed: 1)
    #expect(mutex.tryAcquire(attempts: 1))
    Task(executorPreference: executor) {
      await mutex.waitUntilIdle()
      log.add("idle")
    }
    executor.drain()
    for _ in 0..<2 {
      Task(executorPreference: executor) {
        while !mutex.tryAcquire(attempts: 1) { await mutex.waitForRelease() }
        log.add("held")
        mutex.release()
      }
    }
    executor.drain()
    #expect(log.count == 0)
    mutex.release()
    executor.drain()
    #expect(log.entries == ["held", "held", "idle"])
  }

  @Test func `a release without a holder is a programming error`() async {
    await #expect(processExitsWith: .failure) { UnfairAsyncMutex().release() }
  }
}

/// A count that only the holder of the mutex may change. The thread sanitizer reports other changes.
private final class Tally: @unchecked Sendable {
  private(set) var count = 0

  func addOne() { count += 1 }
}
