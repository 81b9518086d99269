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
    (
      "hedged",
      { body, _ in body.map { _ in throw TestError("no") }.hedged(after: .zero, attempts: 3) }
    ),
    ("repeating", { body, _ in body.repeating(times: 3) }),
    ("recovering", { body, _ in body.map { _ in throw TestError("no") }.fallingBack(to: body) }),
    (
      "recovering by a list",
      { body, _ in
        let failing = body.map { _ -> Int in throw TestError("no") }
        return failing.fallingBack(toEachOf: [failing, failing])
      }
    ),
    ("exclusive", { body, _ in body.exclusive(in: Permits(1)) }),
    (
      "exclusive, waiting",
      { body, _ in
        let twice = body.exclusive(in: Permits(1))
        return ParallelOperation([twice, twice]).map { $0[0] }
      }
    ),
    ("throttled", { body, _ in body.throttled(to: 5, per: .seconds(1)) }),
    (
      "guarded",
      { body, _ in
        body.guarded(by: CircuitBreaker(opensAfterFailures: 1, halfOpensAfter: .seconds(1)))
      }
    ),
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

  /// Compositions of an operation behind a closure that cancels the task.
  private static let closures:
    [(name: String, behind: @Sendable (SimpleOperation<Int>) -> any ComposableOperation<Int>)] = [
      (
        "then",
        { next in
          SimpleOperation {}.then {
            cancelCurrentTask()
            return next
          }
        }
      ),
      (
        "catching",
        { next in
          SimpleOperation<Int> { throw TestError("failed") }.catching { _ in
            cancelCurrentTask()
            return next
          }
        }
      ),
      (
        "sequence",
        { next in
          SequentialOperation(
            ClosureSequence { previous in
              cancelCurrentTask()
              return previous == nil ? next : nil
            }
          ).map { _ in 0 }
        }
      ),
      (
        "onStart",
        { next in next.onStart { cancelCurrentTask() } }
      ),
      (
        "lazy children",
        { next in
          ParallelOperation(width: .serial) {
            cancelCurrentTask()
            return [next]
          }.map { $0[0] }
        }
      ),
    ]

  @Test(arguments: closures.map(\.name))
  func `O2: no body begins behind a closure that cancels the task`(name: String) async throws {
    let behind = try #require(Self.closures.first { $0.name == name }).behind
    let began = Log<Void>()
    let body = SimpleOperation {
      began.add(())
      return 1
    }
    for environment in [
      OperationEnvironment(), OperationEnvironment(observers: [RecordingObserver()]),
    ] {
      let outcome = await behind(body).start(in: environment).outcome
      #expect(outcome.isCancelled, "\(outcome)")
    }
    #expect(began.entries.isEmpty)
  }
}
