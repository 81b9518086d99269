import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct TraceRecorderTests {
  private func trace(
    of operation: some ComposableOperation, keeping count: Int = 1_000_000,
    clock: (any Clock<Duration>)? = nil
  ) async -> OperationTrace {
    let recorder = TraceRecorder(keeping: count)
    _ = await operation.run(in: OperationEnvironment(clock: clock, observers: [recorder]))
    return recorder.trace
  }

  @Test(arguments: Setting.all)
  func `V11: a trace contains every run with its parent, its times and its outcome`(
    setting: Setting
  )
    async throws
  {
    let recorder = TraceRecorder()
    let children = [setting.giving(1), setting.failing(), setting.stopping()].map {
      $0.named("child").retrying(attempts: 2)
    }
    let list = ParallelOperation(children, onFailure: .runAll).named("list")
    _ = try await setting.run {
      await list.run(in: OperationEnvironment(observers: [recorder]))
    }
    let trace = recorder.trace
    #expect(trace.droppedCount == 0)
    let names = trace.spans.map { span in
      "\(span.parent.flatMap { id in trace.spans.first { $0.id == id } }?.name ?? "-")/\(span.name)"
        + " \(span.attempt)"
    }
    #expect(
      names.sorted() == [
        "-/list 1", "child/child 1", "child/child 1", "child/child 1", "child/child 2",
        "list/child 1", "list/child 1", "list/child 1",
      ])
    #expect(trace.spans.map(\.id) == trace.spans.map(\.id).sorted())
    for span in trace.spans {
      let (started, ended) = (try #require(span.started), try #require(span.ended))
      #expect(span.created <= started && started <= ended && .zero <= span.created)
      let parent = trace.spans.first { $0.id == span.parent }
      if let parent { #expect(parent.created <= span.created && ended <= parent.ended ?? .zero) }
    }
    let ends = trace.spans.filter { $0.attempt == 1 && $0.name == "child" }.compactMap(\.end)
    #expect(ends.count { $0 == .result } == 2)
    #expect(ends.count { $0 == .error("failed") } == 1)
    #expect(ends.count { $0 == .cancelled(reason: nil) } == 2)
  }

  @Test func `V11: a trace contains waits, retries, log lines and reasons`() async throws {
    let clock = ManualClock()
    let recorder = TraceRecorder()
    let gate = Gate()
    let operation = SimpleOperation.withContext { context in
      context.log(.warning, "here")
      try await gate.pass()
    }.delayed(by: .seconds(1)).named("held")
    let run = operation.start(in: OperationEnvironment(clock: clock, observers: [recorder]))
    await clock.waitForSleepers(1)
    let waiting = try #require(recorder.trace.spans.first)
    #expect(waiting.end == nil && waiting.waits.map(\.kind) == [.time(.seconds(1))])
    #expect(waiting.waits[0].ended == nil)
    clock.advance(by: .seconds(1))
    await gate.waitForArrivals(1)
    run.cancel(because: "enough")
    _ = await run.outcome
    let span = try #require(recorder.trace.spans.first)
    #expect(span.end == .cancelled(reason: "enough"))
    #expect(span.waits.count == 1 && span.waits[0].ended != nil)
    #expect(
      span.notes.map { "\($0.level.map { "\($0) " } ?? "")\($0.text)" } == [
        "warning here", "asked to cancel because enough",
      ])
    let retried = await trace(
      of: SimpleOperation { throw TestError("no") }.retrying(attempts: 2))
    #expect(retried.spans[0].notes.map(\.text) == ["attempt 2 after 0.0 seconds, because of: no"])
  }

  @Test func `V11: a trace keeps no values`() async {
    final class Value: Sendable {}
    weak var first: Value?
    weak var late: Value?
    let recorder = TraceRecorder()
    let environment = OperationEnvironment(observers: [recorder])
    do {
      let outcome = await SimpleOperation { Value() }.run(in: environment)
      first = outcome.result
      let run = SimpleOperation { () -> Value in
        cancelCurrentTask()
        return Value()
      }.start(in: environment)
      #expect(await run.outcome.isCancelled)
      late = await run.lateOutcome?.result
    }
    // The task of a run may be freed a little later than its outcome is known.
    while first != nil || late != nil { await Task.yield() }
    #expect(recorder.trace.spans.count == 2)
    #expect(recorder.trace.spans[1].notes.last?.text == "came too late: a result")
  }

  @Test func `V11: events after the last kept one are counted`() async {
    let list = ParallelOperation((0..<10).map { n in SimpleOperation { n } }, width: .serial)
    let whole = await trace(of: list)
    #expect(whole.spans.count == 11 && whole.droppedCount == 0)
    let part = await trace(of: list, keeping: 7)
    #expect(part.spans.count == 3 && part.droppedCount == 26)
    #expect(part.spans.map { $0.ended != nil } == [false, true, false])
    #expect(await trace(of: list, keeping: 0).spans.isEmpty)
    let long = await trace(
      of: ParallelOperation((0..<10_000).map { n in SimpleOperation { n } }))
    #expect(long.spans.count == 10_001 && long.spans.allSatisfy { $0.end == .result })
  }

  @Test func `V11: of a long run, a thousand waits and notes are kept`() async throws {
    let polling = SimpleOperation.withContext { context in context.log("again") }
      .repeating(times: 2_500, backoff: .constant(.nanoseconds(1)))
    let span = try #require(await trace(of: polling).spans.first)
    #expect(span.waits.count == 1_000 && span.droppedCount == 1_499)
    let chatting = SimpleOperation.withContext { context in
      for number in 0..<1_010 { context.log("\(number)") }
    }
    let talk = try #require(await trace(of: chatting).spans.first)
    #expect(talk.notes.count == 1_000 && talk.droppedCount == 10)
  }

  @Test func `V11: the end of an abandoned body is a note of its run`() async throws {
    let recorder = TraceRecorder()
    let gate = Gate()
    let clock = ManualClock()
    let operation = SimpleOperation {
      await gate.passIgnoringCancellation()
      throw TestError("late")
    }.timingOut(after: .seconds(1), .abandoning)
    let run = operation.start(in: OperationEnvironment(clock: clock, observers: [recorder]))
    await clock.waitForSleepers(1)
    await gate.waitForArrivals(1)
    clock.advance(by: .seconds(1))
    _ = await run.outcome
    let before = recorder.trace
    gate.open()
    while recorder.trace.spans.flatMap(\.notes).count == before.spans.flatMap(\.notes).count {
      await Task.yield()
    }
    let note = try #require(recorder.trace.spans.flatMap(\.notes).last)
    #expect(note.text == "an abandoned body ended: an error, late")
  }

  @Test func `the text of a trace is a tree`() async {
    let inner = ParallelOperation([SimpleOperation { 1 }.named("leaf")]).named("inner")
    let failing = SimpleOperation { () -> [Int] in throw TestError("two\nlines") }.named("failing")
    let all = ParallelOperation(
      [inner, failing.delayed(by: .nanoseconds(1)).named("failing")]
        as [any ComposableOperation<[Int]>],
      width: .serial)
    let text = await trace(of: all.named("all")).text
      .replacing(/([0-9]+ (h|min) )?[0-9]+(\.[0-9]+)? (ns|µs|ms|s|min)\b/, with: "n ms").replacing(
        /(?m)^ +/, with: "")
    #expect(
      text == """
        n ms  all  n ms  error: [1] failing: two …
        n ms    inner  n ms  result
        n ms      leaf  n ms  result
        n ms    failing  n ms  error: two …  waited n ms for 1e-09 seconds

        """)
    #expect(await trace(of: all, keeping: 0).text == "14 events were dropped\n")
  }
}
