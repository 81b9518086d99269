import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// O3: each value has one owner: the code that receives it first, or else the engine, which discards
/// it.
///
/// A failure shows the seed and the program.
@Suite struct OwnershipTests {
  private static let blocks = Array(0..<UInt64(10))

  @Test(arguments: blocks)
  func `O3: in random programs, each value is either received or discarded once`(
    block: UInt64
  ) async {
    let count = UInt64(Scale.cases(10_000))
    var sums = (all: 0, discarded: 0, received: 0, delivered: 0)
    for seed in block * count..<(block + 1) * count {
      let ledger = Ledger()
      let program = OwnershipProgram(seed: seed, ledger)
      var chance = Chance(seed: ~seed)
      let operation = program.composite(chance.number(1...4))
      await run(operation, ledger, &chance)
      if let finding = ledger.findings.first {
        Issue.record("seed \(seed): \(finding)\n\(program.description)")
        return
      }
      let counts = ledger.counts
      sums.all += counts.all
      sums.discarded += counts.discarded
      sums.received += counts.received
      sums.delivered += counts.delivered
    }
    #expect(sums.discarded > sums.all / 50, "\(sums)")
    #expect(sums.received > sums.all / 10, "\(sums)")
    #expect(sums.delivered > sums.all / 10, "\(sums)")
  }

  /// Runs a program on one worker in a random order, and cancels it at a random time.
  private func run(
    _ operation: some ComposableOperation, _ ledger: Ledger, _ chance: inout Chance
  ) async {
    let executor = SeededExecutor(seed: chance.seed())
    let clock = ManualClock()
    let cancellation = chance.maybe(50) { $0.number(0...30) }
    var environment = OperationEnvironment(clock: clock)
    if chance.percent(20) { environment.observers = [RecordingObserver()] }
    let isEnded = Flag()
    let cancel: @Sendable () -> Void
    if chance.percent(50) {
      environment.executor = executor
      let run = operation.start(in: environment)
      Task(executorPreference: executor) {
        ledger.deliver(await run.outcome)
        isEnded.set()
      }
      cancel = { run.cancel() }
    } else {
      let task = Task(executorPreference: executor) { [environment] in
        ledger.deliver(await operation.run(in: environment))
        isEnded.set()
      }
      cancel = { task.cancel() }
    }
    var jobs = 0
    if cancellation == 0 { cancel() }
    while !isEnded.isSet || clock.sleeperCount > 0 {
      executor.drain { _ in
        jobs += 1
        if jobs == cancellation { cancel() }
      }
      if clock.sleeperCount == 0 { break }
      clock.advance(by: .seconds(1))
    }
    #expect(isEnded.isSet)
  }
}
