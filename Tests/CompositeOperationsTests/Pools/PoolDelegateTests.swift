import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct PoolDelegateTests {
  @Test func `W8: a delegate is notified of beginnings and ends, and can refuse operations`() async
  {
    let doorman = Doorman()
    let pool = OperationPool(width: .serial, capacity: 1, overflow: .refuse, delegate: doorman)
    let gate = Gate()
    let first = await pool.submit(
      SimpleOperation {
        try await gate.pass()
        return 1
      }.named("first"))
    await gate.waitForArrivals(1)
    let unwanted = await pool.submit(SimpleOperation { 2 }.named("unwanted"), priority: .low)
    #expect(await unwanted.outcome.error is Doorman.NotToday)
    let cancelled = await pool.submit(SimpleOperation { 3 }.named("cancelled"))
    let tooMuch = await pool.submit(SimpleOperation { 4 }.named("too much"))
    #expect(await tooMuch.outcome.error is PoolRefusalError)
    cancelled.cancel()
    _ = await cancelled.outcome
    gate.open()
    #expect(await first.outcome.result == 1)
    #expect(
      doorman.seen.entries == [
        "will take first", "first began", "will take unwanted", "will take cancelled",
        "will take too much",
        "too much ended: error pool full: 'too much' was refused because the queue has reached "
          + "its capacity",
        "cancelled ended: cancelled", "first ended: result 1",
      ])
  }
}
