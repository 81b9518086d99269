import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The state machine of the ledger alone.
@Suite struct PermitLedgerTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `E4: random requests are admitted, refused and let pass according to the rules`(
    batch: UInt64
  ) {
    var refused = 0
    var passing = 0
    for seed in 0..<UInt64(Scale.cases(50)) {
      var permits = PermitCase(seed: batch << 32 + seed)
      permits.run(events: 60)
      if let finding = permits.findings.first {
        Issue.record("\(finding)")
        return
      }
      refused += permits.counts.refused
      passing += permits.counts.passing
    }
    // Otherwise the cases cover little.
    #expect(refused > 0 && passing > 0)
  }

  @Test(arguments: PermitScenario.all)
  func `E4: the steps of a search do not grow with the number of waiting requests`(
    scenario: PermitScenario
  ) {
    let count = Scale.isSanitized ? 300 : 3_000
    var world = PermitWorld(scenario.operations(count))
    world.run()
    #expect(world.doneCount + world.refusedCount == count)
    #expect(world.refusedCount == 0 || scenario.mayBeRefused)
    #expect(world.stepCount <= 40 * count, "\(world.stepCount) steps")
  }

  @Test
  func `E4: runs that wait for one another 10,000 levels deep are no cycle, and take linear time`()
  {
    let count = Scale.depth
    var machine = PermitLedger.StateMachine()
    let ends = (0...count).map { _ in Permits(1 << 30) }
    let holds = ends.map { PermitHold([PermitClaim(permits: $0, number: $0.count)], below: nil) }
    for end in ends { #expect(end.tryToTake(end.count)) }
    let requests = (0..<count).map { level in
      PermitLedger.Request([PermitClaim(permits: ends[level + 1], number: 1)], below: holds[level])
    }
    for request in requests { #expect(machine.asked(request).answered.isEmpty) }
    #expect(machine.stepCount <= 20 * count, "\(machine.stepCount) steps")
    // The last run waits for the first one.
    let request = PermitLedger.Request(
      [PermitClaim(permits: ends[0], number: 1)], below: holds[count])
    let answers = machine.asked(request).answered.map(\.answer)
    #expect(answers == [.refused])
    #expect(machine.stepCount <= 40 * count, "\(machine.stepCount) steps")
    // Waiting requests and what blocks them refer to each other.
    for request in requests { _ = machine.cancelled(request) }
    for end in ends { #expect(machine.waitingCount(for: end) == 0) }
  }

  @Test func `E1: many requests that can be admitted are admitted in batches`() {
    let many = Permits(1_000)
    let all = PermitClaim(permits: many, number: many.count)
    let one = PermitClaim(permits: many, number: 1)
    var machine = PermitLedger.StateMachine()
    #expect(PermitClaim.tryToTake([all]))
    for _ in 0..<many.count { _ = machine.asked(PermitLedger.Request([one], below: nil)) }
    var effects = machine.gaveBack(all)
    var admitted = 0
    while true {
      #expect(effects.answered.count <= 100)
      admitted += effects.answered.count
      guard effects.isIncomplete else { break }
      effects = machine.continueAdmitting()
    }
    #expect(admitted == many.count)
    #expect(many.countedByItself == 0)
  }

  // MARK: Freed objects

  /// Records when it is freed.
  private final class Token: Sendable {
    private let gone: Log<Void>
    init(_ gone: Log<Void>) { self.gone = gone }
    deinit { gone.add(()) }
  }

  private static func permits(notingEndIn gone: Log<Void>) -> Permits {
    let token = Token(gone)
    return Permits(1) { withExtendedLifetime(token) { "permits" } }
  }

  @Test func `C3: the machine returns what it no longer needs, and frees no user values`() {
    let gone = Log<Void>()
    var machine = PermitLedger.StateMachine()
    func requestOfOwnPermits(below hold: PermitHold? = nil) -> PermitLedger.Request {
      let permits = Self.permits(notingEndIn: gone)
      let claim = PermitClaim(permits: permits, number: 1)
      #expect(PermitClaim.tryToTake([claim]))
      return PermitLedger.Request([claim], below: hold)
    }
    var effects: [PermitLedger.Effects] = []
    do {
      // Cancelled.
      let request = requestOfOwnPermits()
      effects.append(machine.asked(request))
      effects.append(machine.cancelled(request))
    }
    do {
      // Granted its permits.
      let request = requestOfOwnPermits()
      effects.append(machine.asked(request))
      effects.append(machine.gaveBack(request.claims[0]))
    }
    do {
      // Refused, because it is below a hold of the same permits.
      let claim = PermitClaim(permits: Self.permits(notingEndIn: gone), number: 1)
      #expect(PermitClaim.tryToTake([claim]))
      let request = PermitLedger.Request([claim], below: PermitHold([claim], below: nil))
      effects.append(machine.asked(request))
    }
    do {
      // Below a hold that ends before the request.
      let claim = PermitClaim(permits: Self.permits(notingEndIn: gone), number: 1)
      let hold = PermitHold([claim], below: nil)
      let request = requestOfOwnPermits(below: hold)
      effects.append(machine.asked(request))
      #expect(hold.markEnded())
      effects.append(machine.ended(hold))
      effects.append(machine.cancelled(request))
    }
    #expect(gone.count == 0)
    #expect(
      effects.flatMap(\.answered).map(\.answer) == [.cancelled, .taken, .refused, .cancelled])
    effects = []
    #expect(gone.count == 5)
  }

  @Test func `C3: the machine frees no user values when it admits in batches`() {
    let gone = Log<Void>()
    let many = Permits(300)
    let all = PermitClaim(permits: many, number: many.count)
    #expect(PermitClaim.tryToTake([all]))
    var machine = PermitLedger.StateMachine()
    for _ in 0..<many.count {
      let own = Self.permits(notingEndIn: gone)
      let claims = [PermitClaim(permits: many, number: 1), PermitClaim(permits: own, number: 1)]
      _ = machine.asked(PermitLedger.Request(claims, below: nil))
    }
    var effects = Optional(machine.gaveBack(all))
    while effects?.isIncomplete == true {
      effects = nil
      // The permits that the last batch has taken are unused, and not yet forgotten.
      let count = gone.count
      effects = machine.continueAdmitting()
      #expect(gone.count == count)
    }
    effects = nil
    #expect(gone.count == many.count)
  }
}
