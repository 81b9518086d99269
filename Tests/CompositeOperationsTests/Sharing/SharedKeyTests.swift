import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Keys whose hash values, comparisons, descriptions and ends use shared runs and permits themselves: under a
/// lock of ours any of that would trap, or wait for ever.
@Suite struct SharedKeyTests {
  /// What is done whenever code of a key runs.
  private final class Reentry: Sendable {
    let actions = Log<@Sendable () -> Void>()
    let calls = Log<String>()

    func call(_ name: String) {
      calls.add(name)
      for action in actions.entries { action() }
    }
  }

  /// Calls when it is freed.
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

    // The same for all, so that all are compared.
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
    // Who comes now begins another run.
    runs.forget(Key(1, reentry))
    let fresh = wanted(1).start(in: environment)
    await gate.waitForArrivals(5)
    gate.open()
    for (number, handle) in handles.prefix(8).enumerated() {
      #expect(await handle.outcome.result == number % 4)
    }
    #expect(await fresh.outcome.result == 1)
    while runs.runningCount > 0 { await Task.yield() }
    // Kept, over, forgotten one by one and together.
    for _ in 0..<2 {
      #expect(await wanted(2).run(in: environment).result == 2)
      clock.advance(by: .seconds(2))
    }
    for number in 0..<4 { #expect(await wanted(number).run(in: environment).result == number) }
    runs.forget(Key(3, reentry))
    runs.forgetAll()
    while runs.runningCount > 0 { await Task.yield() }
    #expect(Set(reentry.calls.entries).isSuperset(of: ["hash", "==", "deinit"]))
    // The runs and the keys would keep each other.
    reentry.actions.clear()
  }

  /// All of them have the same hash value.
  private struct CollidingKey: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) {}
  }

  @Test(arguments: [Duration.zero, .seconds(1)])
  func `H1: keys with the same hash value are told apart`(keptFor: Duration) async {
    let runs = SharedRuns<CollidingKey, Int>(keepingResultsFor: keptFor)
    let gate = Gate()
    let wanted = (0..<30).map { index in
      SimpleOperation {
        try await gate.pass()
        return index % 5
      }.shared(in: runs, for: CollidingKey(number: index % 5))
    }
    let run = ParallelOperation(wanted).start(in: OperationEnvironment(clock: ManualClock()))
    await gate.waitForArrivals(5)
    #expect(runs.runningCount == 5)
    gate.open()
    #expect(await run.outcome.result == wanted.indices.map { $0 % 5 })
    #expect(gate.arrivals == 5)
  }
}
