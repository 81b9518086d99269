import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct GateTests {
  @Test func `tasks wait at a closed gate, and pass when it opens`() {
    let gate = Gate()
    let executor = SeededExecutor(seed: 1)
    let passed = Log<Int>()
    for number in 0..<3 {
      Task(executorPreference: executor) {
        if number == 2 { await gate.passIgnoringCancellation() } else { try await gate.pass() }
        passed.add(number)
      }
    }
    executor.drain()
    #expect(gate.arrivals == 3)
    #expect(passed.entries.isEmpty)
    gate.open()
    executor.drain()
    #expect(passed.entries.sorted() == [0, 1, 2])
  }

  @Test func `waiting tasks pass in FIFO order`() {
    let gate = Gate()
    let executor = InOrderExecutor()
    let passed = Log<Int>()
    for number in 0..<20 {
      Task(executorPreference: executor) {
        try await gate.pass()
        passed.add(number)
      }
    }
    executor.drain()
    gate.open()
    executor.drain()
    #expect(passed.entries == Array(0..<20))
  }

  @Test func `every task passes an open gate, which stays open`() async throws {
    let gate = Gate(isOpen: true)
    try await gate.pass()
    await gate.passIgnoringCancellation()
    gate.open()
    try await gate.pass()
    #expect(gate.arrivals == 3)
  }

  @Test func `a task that is cancelled while it waits throws, and the others keep waiting`() {
    let gate = Gate()
    let executor = SeededExecutor(seed: 1)
    let ends = Log<String>()
    let tasks = (0..<3).map { number in
      Task(executorPreference: executor) {
        do {
          try await gate.pass()
          ends.add("\(number) passed")
        } catch {
          ends.add("\(number): \(type(of: error))")
        }
      }
    }
    executor.drain()
    tasks[1].cancel()
    executor.drain()
    #expect(ends.entries == ["1: CancellationError"])
    #expect(gate.arrivals == 3)
    gate.open()
    executor.drain()
    #expect(ends.entries.sorted() == ["0 passed", "1: CancellationError", "2 passed"])
  }

  @Test func `a task that is already cancelled throws, even at an open gate`() async {
    for isOpen in [false, true] {
      let gate = Gate(isOpen: isOpen)
      let task = Task {
        cancelCurrentTask()
        try await gate.pass()
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(gate.arrivals == 1)
    }
  }

  @Test func `a task that ignores its cancellation waits until the gate opens`() {
    let gate = Gate()
    let executor = SeededExecutor(seed: 1)
    let passed = Log<Bool>()
    let task = Task(executorPreference: executor) {
      await gate.passIgnoringCancellation()
      passed.add(Task.isCancelled)
    }
    executor.drain()
    task.cancel()
    executor.drain()
    #expect(passed.entries.isEmpty)
    gate.open()
    executor.drain()
    #expect(passed.entries == [true])
  }

  @Test func `a task that is cancelled while the gate opens either passes or throws`() async {
    for _ in 0..<300 {
      let gate = Gate()
      let task = Task { try await gate.pass() }
      await gate.waitForArrivals(1)
      async let cancellation: Void = task.cancel()
      gate.open()
      await cancellation
      if case .failure(let error) = await task.result { #expect(error is CancellationError) }
    }
  }

  @Test func `waiting for arrivals ends at the given number, even if the tasks have passed`() async
  {
    let gate = Gate(isOpen: true)
    await gate.waitForArrivals(0)
    let executor = SeededExecutor(seed: 1)
    let seen = Log<Int>()
    for count in [3, 1, 2] {
      Task(executorPreference: executor) {
        await gate.waitForArrivals(count)
        seen.add(count)
      }
    }
    executor.drain()
    for count in 1...3 {
      #expect(seen.count == count - 1)
      await gate.passIgnoringCancellation()
      executor.drain()
      #expect(seen.entries == Array(1...count))
    }
    await gate.waitForArrivals(3)
  }
}
