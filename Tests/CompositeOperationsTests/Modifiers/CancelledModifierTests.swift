import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct CancelledModifierTests {
  /// Modifies a body. The body and the conditions of the modifiers report their beginning.
  private typealias Modified =
    @Sendable (SimpleOperation<Int>, _ begins: @escaping @Sendable () -> Void)
    -> any ComposableOperation<Int>

  private static let ways: [(name: String, modified: Modified)] = [
    ("timingOut", { body, _ in body.timingOut(after: .seconds(100)) }),
    ("abandoning", { body, _ in body.timingOut(after: .seconds(100), .abandoning) }),
    ("delayed", { body, _ in body.delayed(by: .zero) }),
    ("retrying", { body, _ in body.map { _ in throw TestError("no") }.retrying(attempts: 3) }),
    ("repeating", { body, _ in body.repeating(times: 3) }),
    ("recovering", { body, _ in body.map { _ in throw TestError("no") }.fallingBack(to: body) }),
    ("exclusive", { body, _ in body.exclusive(in: Permits(1)) }),
    (
      "exclusive, waiting",
      { body, _ in
        let twice = body.exclusive(in: Permits(1))
        return ParallelOperation([twice, twice]).map { $0[0] }
      }
    ),
    ("throttled", { body, _ in body.throttled(to: 5, per: .seconds(1)) }),
    ("finally", { body, _ in body.finally { _ in } }),
    (
      "requiring",
      { body, begins in
        body.requiring(
          Condition("is so") {
            begins()
            await Task.yield()
            return true
          })
      }
    ),
    (
      "requiring several",
      { body, begins in
        let condition = Condition("is so") {
          begins()
          await Task.yield()
          return true
        }
        return body.requiring(.any(condition, .not(condition))).requiring(condition)
      }
    ),
  ]

  @Test(arguments: ways.map(\.name))
  func `O2: no body or condition begins after a cancellation, whatever the modifiers`(way: String)
    throws
  {
    let modified = try #require(Self.ways.first { $0.name == way }).modified
    for seed in UInt64(0)..<20 {
      for job in 0..<15 {
        let isCancelled = Flag()
        let began = Log<String>()
        let begins: @Sendable () -> Void = { began.add(isCancelled.isSet ? "late" : "in time") }
        let body = SimpleOperation {
          begins()
          await Task.yield()
          return 1
        }
        let executor = SeededExecutor(seed: seed)
        let environment = OperationEnvironment(clock: ManualClock(), executor: executor)
        let run = AnyOperation(modified(body, begins)).start(in: environment)
        let cancel = {
          run.cancel()
          isCancelled.set()
        }
        if job == 0 { cancel() }
        executor.drain { count in if count == job { cancel() } }
        #expect(!began.entries.contains("late"), "\(way), seed \(seed), job \(job)")
      }
    }
  }
}
