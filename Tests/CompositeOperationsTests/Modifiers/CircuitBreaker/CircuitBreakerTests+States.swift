import CompositeOperations
import CompositeOperationsTestKit
import Testing

extension CircuitBreakerTests {
  @Test func `Q6: a reader receives the present state and each change`() async {
    let breaker = Self.breaker(probes: 2)
    var states = breaker.states.makeAsyncIterator()
    #expect(await states.next() == .closed)
    _ = await run("f", breaker)
    #expect(await states.next() == .open)
    clock.advance(by: .seconds(30))
    _ = await run("f", breaker)
    // A slow reader has missed a state, and receives the last one.
    #expect(await states.next() == .open)
    clock.advance(by: .seconds(30))
    _ = await run("r", breaker)
    #expect(await states.next() == .halfOpen)
    _ = await run("r", breaker)
    #expect(await states.next() == .closed)
    var late = breaker.states.makeAsyncIterator()
    #expect(await late.next() == .closed)
  }

  @Test func `Q6: all waiting readers receive a change, unless they are cancelled`() async {
    let executor = SeededExecutor(seed: 1)
    let breaker = Self.breaker()
    let read = Log<String>()
    let readers = ["a", "b", "c"].map { name in
      Task(executorPreference: executor) {
        for await state in breaker.states { read.add("\(name) \(state)") }
        read.add("\(name) ended")
      }
    }
    executor.drain()
    read.clear()
    readers[1].cancel()
    executor.drain()
    #expect(read.entries == ["b ended"])
    _ = await run("f", breaker)
    executor.drain()
    #expect(read.entries.sorted() == ["a open", "b ended", "c open"])
    for reader in readers { reader.cancel() }
    executor.drain()
    #expect(read.count == 5)
  }
}
