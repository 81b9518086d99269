import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// Returns its operations one after another, whatever their outcomes, and records the finished
/// steps that it is called with.
private struct Scripted: OperationSequence {
  let operations: [any ComposableOperation]
  var log = Log<String>()
  var history = StepHistory.all
  private var index = 0

  init(_ operations: [any ComposableOperation], history: StepHistory = .all) {
    self.operations = operations
    self.history = history
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    log.add(previous.map { "\($0.index) \($0.name): \($0.outcome.kind)" } ?? "nil")
    defer { index += 1 }
    return index < operations.count ? operations[index] : nil
  }
}

@Suite struct SequentialTests {
  @Test func `the description of finished steps lists them in order`() async {
    let flow = SequentialOperation(
      Scripted([
        SimpleOperation { 7 }.named("a"),
        SimpleOperation<Int> { throw TestError("lost") }.named("b"),
        SimpleOperation<Int> { throw CancellationError() }.named("c"),
        SimpleOperation { "d" }.named("d"),
      ]))
    let steps = await flow.run().result
    #expect(
      steps.map { "\($0)" }
        == "[0 a: result(7), 1 b: error(lost), 2 c: cancelled, 3 d: result(\"d\")]")
  }

  @Test(arguments: Setting.all)
  func `S2: a sequence that is a class is shared by its runs, and never called concurrently`(
    setting: Setting
  ) async throws {
    final class Shared: OperationSequence {
      let inside = Crowd()
      let asked = Log<Int?>()
      func nextOperation(after previous: FinishedStep?) async -> (any ComposableOperation)? {
        inside.enter()
        defer { inside.leave() }
        asked.add(previous?.index)
        await Task.yield()
        return previous?.index == 4 ? nil : SimpleOperation { 1 }
      }
    }
    let sequence = Shared()
    let flow = SequentialOperation(sequence)
    for run in 1...2 {
      #expect(try await setting.run { await flow.run() }.result?.count == 5)
      #expect(sequence.asked.count == 6 * run)
    }
    #expect(sequence.inside.most == 1)
  }

  @Test func `S2: an error of the sequence after the cancellation is the cause in the late error`()
    async throws
  {
    let gate = Gate()
    let run = SequentialOperation(
      ClosureSequence { _ in
        await gate.passIgnoringCancellation()
        throw TestError("too late")
      }
    ).start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    let evidence = try #require(await run.lateOutcome?.error as? SequentialOperationError)
    #expect(evidence.cause.map { "\($0)" } == "too late")
  }

  @Test func `S2: an error of the sequence is described after the error of the last step`() async {
    let flow = SequentialOperation(
      ClosureSequence { previous in
        guard previous == nil else { throw TestError("no way out") }
        return SimpleOperation<Int> { throw TestError("failed") }.named("first")
      })
    let error = await flow.run().error
    #expect(error.map { "\($0)" } == "step 0, first: failed\nno way out")
  }

  @Test(arguments: Setting.all)
  func `S1: the sequence is called with nil first, then with each finished step`(
    setting: Setting
  ) async throws {
    let sequence = Scripted([
      setting.giving(1).named("a"), setting.failing().named("b"), setting.giving("c").named("c"),
    ])
    let outcome = try await setting.run { await SequentialOperation(sequence).run() }
    #expect(outcome.result?.count == 3)
    #expect(
      sequence.log.entries == ["nil", "0 a: result 1", "1 b: error failed", "2 c: result c"])
  }

  @Test(arguments: Setting.all)
  func `S1: a sequence that returns nil first has a result without steps`(setting: Setting)
    async throws
  {
    let outcome = try await setting.run { await SequentialOperation(Scripted([])).run() }
    #expect(outcome.result?.isEmpty == true)
  }

  @Test func `S1: a typed result is found through modifiers that keep the type of the value`()
    async throws
  {
    struct Fetch: ComposableOperation {
      func perform(in context: OperationContext) -> [Int] { [1, 2] }
    }
    let modified: [any ComposableOperation] = [
      Fetch(), Fetch().named("named"), Fetch().discarding { _ in }.named("named"),
      Fetch().prioritized(at: .low), Fetch().observed(by: RecordingObserver()),
      AnyOperation(Fetch()).named("any"),
    ]
    for operation in modified {
      let outcome = await SequentialOperation(.linear([operation])).run()
      let step = try #require(outcome.result?.first)
      #expect(step.result(of: Fetch.self) == [1, 2], "\(type(of: operation))")
      #expect(step.result(as: [Int].self) == [1, 2])
      #expect(step.result(of: SimpleOperation<[Int]>.self) == nil)
      #expect(step.result(as: String.self) == nil)
    }
    let mapped = await SequentialOperation(.linear([Fetch().map(\.count)])).run()
    #expect(mapped.result?.first?.result(of: Fetch.self) == nil)
    #expect(mapped.result?.last(of: Fetch.self) == nil)
    #expect(mapped.result?.first?.result(as: Int.self) == 2)
  }

  @Test func `S1: an optional result of nil is a result`() async throws {
    struct Find: ComposableOperation {
      func perform(in context: OperationContext) -> Int? { nil }
    }
    let outcome = await SequentialOperation(.linear([Find()])).run()
    let step = try #require(outcome.result?.first)
    #expect(step.result(of: Find.self) == .some(.none))
    #expect(step.result(as: Int?.self) == .some(.none))
    #expect(await Find().retrying(attempts: 2).run().result == .some(.none))
  }

  @Test(arguments: Setting.all)
  func `S2: every run begins with a fresh copy of the sequence`(setting: Setting) async throws {
    let operation = SequentialOperation(Scripted([setting.giving(1), setting.giving(2)]))
    for _ in 0..<3 {
      #expect(try await setting.run { await operation.run() }.result?.count == 2)
    }
    let both = try await setting.run { await ParallelOperation([operation, operation]).run() }
    #expect(both.result?.map(\.count) == [2, 2])
  }

  @Test(arguments: Setting.all)
  func `a closure with its own state can be the sequence`(setting: Setting) async throws {
    let operation = SequentialOperation(
      ClosureSequence(state: 0) { count, previous in
        #expect((previous == nil) == (count == 0))
        await setting.pause()
        count += 1
        return count <= 3 ? setting.giving(count) : nil
      })
    for _ in 0..<2 {
      let outcome = try await setting.run { await operation.run() }
      #expect(outcome.result?.map(\.outcome.kind) == ["result 1", "result 2", "result 3"])
    }
    let plain = SequentialOperation(
      ClosureSequence(history: .none) { previous in previous == nil ? setting.giving(1) : nil })
    #expect(try await setting.run { await plain.run() }.result?.count == 0)
  }

  @Test func `S2: an error of the sequence ends the composite, with the steps so far`()
    async throws
  {
    let operation = SequentialOperation(
      ClosureSequence { previous in
        if previous != nil { throw TestError("undecided") }
        return SimpleOperation { 1 }.named("first")
      })
    let error = try #require(await operation.run().error as? SequentialOperationError)
    #expect(error.cause.map { "\($0)" } == "undecided")
    #expect(error.steps.map(\.outcome.kind) == ["result 1"])
    #expect(error.description == "undecided")
    let resigned = SequentialOperation(
      ClosureSequence { _ in throw CancellationError() })
    #expect(await resigned.run().isCancelled)
  }

  @Test func `S2: an operation that is returned after the cancellation is not used`() async {
    let gate = Gate()
    let begun = Log<String>()
    let run = SequentialOperation(
      ClosureSequence { _ in
        await gate.passIgnoringCancellation()
        return SimpleOperation { begun.add("began") }
      }
    ).start()
    await gate.waitForArrivals(1)
    run.cancel()
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(begun.entries.isEmpty)
  }

  @Test(arguments: Setting.all)
  func `S3: the last step determines the outcome`(setting: Setting) async throws {
    let good = setting.giving(1)
    let bad: SimpleOperation<Int> = setting.failing()
    let tired: SimpleOperation<Int> = setting.stopping()
    let table: [([SimpleOperation<Int>], String)] = [
      ([good, good], "result"), ([good, bad], "error"), ([good, tired], "cancelled"),
      ([bad, good], "result"), ([tired, good], "result"), ([bad, tired], "cancelled"),
      ([tired, bad], "error"), ([bad, bad], "error"), ([tired], "cancelled"),
    ]
    for (operations, expected) in table {
      let outcome = try await setting.run {
        await SequentialOperation(Scripted(operations)).run()
      }
      switch outcome {
      case .result(let steps):
        #expect(expected == "result")
        #expect(steps.map(\.index) == Array(operations.indices))
      case .error(let error):
        #expect(expected == "error")
        let error = try #require(error as? SequentialOperationError)
        #expect(error.steps.count == operations.count)
      case .cancelled:
        #expect(expected == "cancelled")
      }
    }
  }

  @Test func `S3: the error contains the error of each step, in order`() async throws {
    let sequence = Scripted([
      SimpleOperation<Int> { throw TestError("first\nsecond line") }.named("a"),
      SimpleOperation { 1 }.named("b"),
      SimpleOperation<Int> { throw TestError("last") }.named("c"),
    ])
    let error = try #require(
      await SequentialOperation(sequence).run().error as? SequentialOperationError)
    #expect(error.steps.errors.map { "\($0)" } == ["first\nsecond line", "last"])
    #expect(error.cause.map { "\($0)" } == "last")
    #expect(error.description == "step 0, a: first\n  second line\nstep 2, c: last")
  }

  @Test(arguments: Setting.all)
  func `S4: steps never overlap`(setting: Setting) async throws {
    let crowd = Crowd()
    let order = Log<Int>()
    let steps = (0..<50).map { index in
      SimpleOperation {
        crowd.enter()
        order.add(index)
        await setting.pause()
        crowd.leave()
      }
    }
    _ = try await setting.run { await SequentialOperation(.linear(steps)).run() }
    #expect(crowd.most == 1)
    #expect(order.entries == Array(0..<50))
  }

  @Test func `S4: a cancellation reaches the running step, and the sequence is not called again`()
    async throws
  {
    let gate = Gate()
    let sequence = Scripted([
      SimpleOperation { 1 }.named("done"),
      SimpleOperation { try await gate.pass() }.named("running"),
      SimpleOperation { 2 }.named("never"),
    ])
    let recorder = RecordingObserver()
    let run = SequentialOperation(sequence).observed(by: recorder).start()
    await gate.waitForArrivals(1)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(sequence.log.entries == ["nil", "0 done: result 1"])
    let late = try #require(await run.lateOutcome?.error as? SequentialOperationError)
    #expect(late.steps.map(\.outcome.kind) == ["result 1", "cancelled"])
    #expect(late.representsCancellation)
    guard case .ended(_, let shown) = recorder.events.last?.kind else {
      Issue.record("The last event is \(recorder.short.last ?? "none")")
      return
    }
    #expect((shown?.error as? SequentialOperationError)?.steps.count == 2)
  }

  @Test(arguments: Setting.all)
  func `S4: a step that cancels the composite is the last one`(setting: Setting) async throws {
    let sequence = Scripted([
      SimpleOperation {
        cancelCurrentTask()
        await setting.pause()
        return 1
      }, setting.giving(2),
    ])
    let outcome = try await setting.run { await SequentialOperation(sequence).run() }
    #expect(outcome.isCancelled)
    #expect(sequence.log.entries == ["nil"])
  }

  @Test func `S5: the history can be limited, including errors`() async throws {
    let steps = (0..<10).map { index in
      SimpleOperation<Int> { throw TestError("\(index)") }
    }
    for (history, kept) in [
      (StepHistory.all, 0..<10), (.last(3), 7..<10), (.last(1), 9..<10), (.last(100), 0..<10),
      (.none, 10..<10),
    ] {
      let error = try #require(
        await SequentialOperation(Scripted(steps, history: history)).run().error
          as? SequentialOperationError)
      #expect(error.steps.map(\.index) == Array(kept))
      #expect(error.steps.errors.map { "\($0)" } == kept.map(String.init))
      #expect(error.cause.map { "\($0)" } == "9")
    }
    await #expect(processExitsWith: .failure) { _ = StepHistory.last(-1) }
  }

  @Test func `S6: the sequence creates the result of the composite from the steps and its state`()
    async throws
  {
    struct Sum: OperationSequence {
      let count: Int
      var history: StepHistory { .last(1) }
      private var total = 0
      private var begun = 0
      init(count: Int) { self.count = count }

      mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
        total += previous?.result(as: Int.self) ?? 0
        begun += 1
        let number = begun
        return begun <= count ? SimpleOperation { number } : nil
      }

      func output(of steps: FinishedSteps) throws -> String {
        if count == 13 { throw TestError("unlucky") }
        if count == 14 { throw CancellationError() }
        return "\(total) from \(steps.count)"
      }
    }
    #expect(await SequentialOperation(Sum(count: 4)).run().result == "10 from 1")
    #expect(await SequentialOperation(Sum(count: 0)).run().result == "0 from 0")
    let error = await SequentialOperation(Sum(count: 13)).run().error as? SequentialOperationError
    #expect(error?.cause.map { "\($0)" } == "unlucky")
    #expect(await SequentialOperation(Sum(count: 14)).run().isCancelled)
  }
}
