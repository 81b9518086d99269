import CompositeOperations
import CompositeOperationsTestKit

/// An operation that records its beginning and waits at a gate.
struct PoolGuest: ComposableOperation {
  let number: Int
  let begun: Log<Int>
  let gate: Gate

  func perform(in context: OperationContext) async throws -> Int {
    begun.add(number)
    try await gate.pass()
    return number
  }
}

/// A pool whose first place one operation occupies until the gate is opened, and the order in which
/// operations begin.
struct PoolScene {
  let pool: OperationPool
  let gate = Gate()
  let begun = Log<Int>()

  init(_ pool: OperationPool) async {
    self.pool = pool
    _ = await pool.submit(guest(0))
    await gate.waitForArrivals(1)
  }

  func guest(_ number: Int) -> some ComposableOperation<Int> {
    PoolGuest(number: number, begun: begun, gate: gate)
  }

  func end() async {
    gate.open()
    await pool.drain()
  }
}

/// A delegate that records its calls, and refuses operations below normal priority.
struct Doorman: OperationPoolDelegate {
  struct NotToday: Error {}
  let seen = Log<String>()

  func willTake(_ member: PoolMember) throws {
    seen.add("will take \(member.name)")
    if member.priority < .normal { throw NotToday() }
  }
  func didBegin(_ member: PoolMember) { seen.add("\(member.name) began") }
  func didEnd(_ member: PoolMember, in outcome: Outcome<any Sendable>) {
    seen.add("\(member.name) ended: \(outcome.kind)")
  }
}
