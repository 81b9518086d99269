import CompositeOperations
import CompositeOperationsTestKit
import OperationTracing
import Testing

@Suite struct ChromeFormatTests {
  @Test func `a run is a slice with its times, its parent and its outcome`() async throws {
    let trace = await TraceScene.trace
    let runs = try ChromeEvents(trace.chromeJSON).runs
    #expect(runs.count == trace.spans.count)
    for (run, span) in zip(runs, trace.spans) {
      #expect(run.name == span.name)
      #expect(run.args.id.map { "#\($0)" } == "\(span.id)")
      #expect(run.args.parent.map { "#\($0)" } == span.parent.map { "\($0)" })
      #expect(run.args.attempt == span.attempt)
      #expect(run.pid == 1)
      #expect(run.tid == span.lane + 1)
      #expect(run.ts.map { Duration.nanoseconds(Int64(($0 * 1_000).rounded())) } == span.created)
      #expect(run.dur.map { Duration.nanoseconds(Int64(($0 * 1_000).rounded())) } == span.duration)
    }
    let ends = Dictionary(runs.map { ($0.name, $0.args) }) { _, last in last }
    #expect(ends["logs"]?.outcome == "result")
    #expect(ends["stops"]?.outcome == "cancelled")
    #expect(ends[TraceScene.oddText]?.outcome == "error")
    #expect(ends[TraceScene.oddText]?.error == TraceScene.oddText)
    #expect(ends["tried"]?.attempt == 2)
  }

  @Test func `a wait of a run is a slice below it`() async throws {
    let trace = await TraceScene.trace
    let chrome = try ChromeEvents(trace.chromeJSON)
    let waits = trace.spans.flatMap { span in span.waits.map { (span, $0) } }
    #expect(waits.count == 2)
    #expect(chrome.waits.count == 2)
    for (slice, (span, wait)) in zip(chrome.waits, waits) {
      #expect(slice.name == "waits for \(wait.kind)")
      #expect(slice.tid == span.lane + 1)
      #expect(slice.ts.map { Duration.nanoseconds(Int64(($0 * 1_000).rounded())) } == wait.began)
      #expect(
        slice.dur.map { Duration.nanoseconds(Int64(($0 * 1_000).rounded())) }
          == wait.ended.map { $0 - wait.began })
      let run = chrome.runs.first { "#\($0.args.id ?? 0)" == "\(span.id)" }
      #expect(run?.args.waits?.count == 1)
    }
  }

  @Test func `log lines and notes are instants of their run`() async throws {
    let trace = await TraceScene.trace
    let instants = try ChromeEvents(trace.chromeJSON).instants
    let line = try #require(instants.first { $0.cat == "log" })
    #expect(line.name == TraceScene.oddText)
    #expect(line.args.level == "warning")
    #expect(
      line.args.id.map { "#\($0)" } == "\(trace.spans.first { $0.name == "logs" }?.id, default: "")"
    )
    #expect(instants.contains { $0.name == "finished again: a result" && $0.cat == "note" })
    #expect(instants.contains { $0.name.hasPrefix("attempt 2 after") })
  }

  @Test func `every lane has a name`() async throws {
    let trace = await TraceScene.trace
    let chrome = try ChromeEvents(trace.chromeJSON)
    let names = chrome.events.filter { $0.ph == "M" && $0.name == "thread_name" }
    #expect(Set(names.map(\.tid)) == Set((chrome.runs + chrome.waits).map(\.tid)))
    for name in names { #expect(name.args.name == "lane \(name.tid ?? 0)") }
  }

  @Test(arguments: EventScene.all)
  func `slices of a lane are nested`(scene: EventScene) async throws {
    for setting in Setting.many {
      let recorder = TraceRecorder()
      let operation = scene.operation(setting)
      _ = try await setting.run { await operation.observed(by: recorder).run() }
      try #require(try ChromeEvents(recorder.trace.chromeJSON).crossings == [], "\(setting)")
    }
  }

  @Test func `slices of a lane are nested for a thousand short runs`()
    async throws
  {
    let recorder = TraceRecorder()
    let lock = Permits(2)
    let list = ParallelOperation(
      (0..<1_000).map { index in
        SimpleOperation.withContext { context in
          if index.isMultiple(of: 3) { await Task.yield() }
          return try await context.run(SimpleOperation { await Task.yield() })
        }.limited(by: lock)
      })
    _ = await list.observed(by: recorder).run()
    let chrome = try ChromeEvents(recorder.trace.chromeJSON)
    #expect(chrome.runs.count > 2_000)
    #expect(chrome.crossings == [])
  }

  @Test func `an empty trace is valid`() throws {
    #expect(try ChromeEvents(TraceRecorder().trace.chromeJSON).runs.isEmpty)
  }
}
