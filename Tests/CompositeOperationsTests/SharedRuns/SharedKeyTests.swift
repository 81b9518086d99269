import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Keys whose hash values, comparisons, descriptions and `deinit` use shared runs and permits
/// themselves. Under a lock of the package each of these would trap or deadlock.
@Suite(.timeLimit(.minutes(10))) struct SharedKeyTests {
  /// Actions that are called whenever code of a key runs.
  private final class Reentry: Sendable {
    let actions = Log<@Sendable () -> Void>()
    let calls = Log<String>()

    func call(_ name: String) {
      calls.add(name)
      for action in actions.entries { action() }
    }
  }

  /// Calls the actions when it is deallocated.
  private final class End: Sendable {
    private let reentry: Reentry
    init(_ reentry: Reentry) { self.reentry = reentry }
    deinit { reentry.call("deinit") }
  }

  private struct Key: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    let reentry: Reentry
    let end: End

    init(_ number: Int, _ reentry: Reentry) {
      self.number = number
      self.reentry = reentry
      end = End(reentry)
    }

    var description: String {
      reentry.call("description")
      return "key \(number)"
    }

    static func == (left: Key, right: Key) -> Bool {
      left.reentry.call("==")
      return left.number == right.number
    }

    // Equal for all keys, so that all keys are compared.
    func hash(into hasher: inout Hasher) { reentry.call("hash") }
  }

  @Test(arguments: [Duration.zero, .seconds(1)])
  func `C3: keys are hashed, compared and freed without a lock`(keptFor: Duration) async throws {
    let reentry = Reentry()
    let runs = SharedRuns<Key, Int>(keepingResultsFor: keptFor)
    reentry.actions.add { _ = runs.runningCount }
    let clock = ManualClock()
    let environment = OperationEnvironment(clock: clock)
    let gate = Gate()
    func wanted(_ number: Int) -> some ComposableOperation<Int> {
      SimpleOperation {
        try await gate.pass()
        return number
      }.shared(in: runs, for: Key(number, reentry))
    }
    let handles = (0..<12).map { wanted($0 % 4).start(in: environment) }
    await gate.waitForArrivals(4)
    for handle in handles.suffix(4) { handle.cancel() }
    for handle in handles.suffix(4) { #expect(await handle.outcome.isCancelled) }
    // A caller after this starts another run.
    runs.forget(Key(1, reentry))
    let fresh = wanted(1).start(in: environment)
    await gate.waitForArrivals(5)
    gate.open()
    for (number, handle) in handles.prefix(8).enumerated() {
      #expect(await handle.outcome.result == number % 4)
    }
    #expect(await fresh.outcome.result == 1)
    while runs.runningCount > 0 { await Task.yield() }
    // Results are kept, expire, and are forgotten one by one and together.
    for _ in 0..<2 {
      #expect(await wanted(2).run(in: environment).result == 2)
      clock.advance(by: .seconds(2))
    }
    for number in 0..<4 { #expect(await wanted(number).run(in: environment).result == number) }
    runs.forget(Key(3, reentry))
    runs.forgetAll()
    while runs.runningCount > 0 { await Task.yield() }
    #expect(Set(reentry.calls.entries).isSuperset(of: ["hash", "==", "deinit"]))
    // Breaks the retain cycle of the runs and the keys.
    reentry.actions.clear()
  }

  /// All of them have the same hash value.
  private struct CollidingKey: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) {}
  }

  @Test(arguments: [Duration.zero, .seconds(1)])
  func `H1: keys with the same hash value are distinguished`(keptFor: Duration) async {
    let runs = SharedRuns<CollidingKey, Int>(keepingResultsFor: keptFor)
    let gate = Gate()
    let wanted = (0..<30).map { index in
      SimpleOperation {
        try await gate.pass()
        return index % 5
      }.shared(in: runs, for: CollidingKey(number: index % 5))
    }
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(clock: ManualClock(), executor: executor)
    let run = ParallelOperation(wanted).start(in: environment)
    // Runs all ready jobs, so that each of the 30 callers waits.
    executor.drain()
    #expect(runs.runningCount == 5)
    gate.open()
    executor.drain()
    #expect(await run.outcome.result == wanted.indices.map { $0 % 5 })
    #expect(gate.arrivals == 5)
  }

  @Test func `C3: names in an error of permits are computed without a lock`() async throws {
    let reentry = Reentry()
    let runs = SharedRuns<Key, Int>()
    let lock = Permits(1, name: "lock")
    let gate = Gate()
    let holder = SimpleOperation { try await gate.pass() }.exclusive(in: lock).start()
    await gate.waitForArrivals(1)
    let waiter = SimpleOperation {}.exclusive(in: lock).start()
    await lock.waitForQueue(of: 1)
    // Uses the ledger of permits, because a request waits for them.
    reentry.actions.add { _ = lock.waitingCount + lock.leftCount }
    let inner = SimpleOperation { 1 }.shared(in: runs, for: Key(1, reentry))
    let outer = SimpleOperation.withContext { context in try await context.run(inner) }
    let error = await outer.shared(in: runs, for: Key(1, reentry)).run().firstPermitError
    #expect(error?.wanted == ["shared result for key 1"])
    #expect(error?.reason == .heldByAncestor)
    #expect(reentry.calls.entries.contains("description"))

    // The same for an operation that a pool runs below permits that the operation requires.
    let other = Permits(1, name: "other")
    let named = DescribedOperation(reentry: { reentry.call("name") }, permits: other)
    let pool = OperationPool()
    let refused = await named.submitted(to: pool).exclusive(in: other).run().firstPermitError
    #expect(refused?.reason == .deadlock)
    #expect(reentry.calls.entries.contains("name"))
    reentry.actions.clear()
    gate.open()
    for run in [holder, waiter] { _ = try await run.outcome.get() }
  }

  /// Takes permits in a child, and has a name that runs code.
  private struct DescribedOperation: ComposableOperation {
    let reentry: @Sendable () -> Void
    let permits: Permits

    var operationName: String {
      reentry()
      return "described"
    }

    func perform(in context: OperationContext) async throws -> Int {
      try await context.run(SimpleOperation { 1 }.exclusive(in: permits))
    }
  }
}
