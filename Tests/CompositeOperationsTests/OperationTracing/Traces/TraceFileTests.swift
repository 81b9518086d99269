import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import OperationTracing
import Testing

@Suite struct TraceFileTests {
  private let chrome = TemporaryFile(".json")
  private let lines = TemporaryFile(".otlp")

  private func spans(_ file: TemporaryFile) throws -> [OpenTelemetryRequest.Span] {
    try file.text.split(separator: "\n").flatMap { try OpenTelemetryRequest($0).spans }
  }

  @Test func `a file contains the events that a recorder keeps`() async throws {
    let recorder = TraceRecorder()
    let files = [try TraceFile(chrome.path), try TraceFile(lines.path)]
    struct Fan: OperationObserver {
      let observers: [any OperationObserver]
      func observe(_ event: OperationEvent) { for each in observers { each.observe(event) } }
    }
    await TraceScene.run(observedBy: Fan(observers: files + [recorder]))
    for file in files { try file.close() }
    let expected = try ChromeEvents(recorder.trace.chromeJSON)
    let written = try ChromeEvents(chrome.text)
    #expect(written.crossings == [])
    #expect(
      written.runs.map { [$0.name, $0.args.outcome, $0.args.error] }.sorted { "\($0)" < "\($1)" }
        == expected.runs.map { [$0.name, $0.args.outcome, $0.args.error] }
        .sorted { "\($0)" < "\($1)" })
    #expect(written.instants.map(\.name).sorted() == expected.instants.map(\.name).sorted())
    #expect(try spans(lines).map(\.name).sorted() == recorder.trace.spans.map(\.name).sorted())
  }

  @Test func `runs on many threads are written to the file once each and complete`() async throws {
    let files = [try TraceFile(chrome.path), try TraceFile(lines.path)]
    let list = ParallelOperation(
      (0..<5_000).map { index in
        SimpleOperation { if index.isMultiple(of: 2) { await Task.yield() } }.named("\(index)")
      })
    _ = await list.named("list").observed(by: files[0], files[1]).run()
    for file in files { try file.close() }
    let expected = ((0..<5_000).map { "\($0)" } + ["list"]).sorted()
    let written = try ChromeEvents(chrome.text)
    #expect(written.runs.map(\.name).sorted() == expected)
    #expect(written.crossings == [])
    #expect(try spans(lines).map(\.name).sorted() == expected)
  }

  @Test func `active runs are unfinished when the file is closed, and later events are lost`()
    async throws
  {
    let files = [try TraceFile(chrome.path), try TraceFile(lines.path)]
    let gate = Gate()
    let run = ParallelOperation([
      SimpleOperation {}.named("done"), SimpleOperation { try await gate.pass() }.named("active"),
    ]).named("list").observed(by: files[0], files[1]).start()
    await gate.waitForArrivals(1)
    for file in files { try file.close() }
    gate.open()
    _ = await run.outcome
    for file in files { try file.close() }
    let written = try ChromeEvents(chrome.text)
    let outcomes = written.runs.map { "\($0.name) \($0.args.outcome ?? "")" }
    #expect(
      outcomes.sorted().filter { $0.hasSuffix("unfinished") } == [
        "active unfinished", "list unfinished",
      ])
    #expect(written.crossings == [])
    let spans = try spans(lines)
    #expect(spans.filter { $0["operation.outcome"] == "unfinished" }.count == 2)
    #expect(spans.allSatisfy { $0.startTimeUnixNano <= $0.endTimeUnixNano })
  }

  @Test func `the file of a program that has crashed can be read`() async throws {
    let file = try TraceFile(chrome.path)
    let otherFile = try TraceFile(lines.path)
    for _ in 0..<1_000 { _ = await SimpleOperation {}.observed(by: file, otherFile).run() }
    // The contents before the file is closed, when the array has no end yet.
    let written = try ChromeEvents(chrome.text + "]").runs.count
    #expect((744...1_000).contains(written))
    #expect(try spans(lines).count == written)
    try file.close()
    #expect(try ChromeEvents(chrome.text).runs.count == 1_000)
  }

  @Test func `a file that is deallocated is closed`() async throws {
    for path in [chrome.path, lines.path] {
      let file = try TraceFile(path)
      _ = await SimpleOperation {}.observed(by: file).run()
    }
    #expect(try ChromeEvents(chrome.text).runs.count == 1)
    #expect(try spans(lines).count == 1)
  }

  @Test func `a file without runs is valid`() throws {
    try TraceFile(chrome.path).close()
    try TraceFile(lines.path).close()
    #expect(try ChromeEvents(chrome.text).events.isEmpty)
    #expect(try lines.text == "")
  }

  @Test func `the error of a file that cannot be created has its path, the reason and the remedy`()
    throws
  {
    let error = try #require(throws: TraceFileError.self) {
      try TraceFile("/nowhere/at/all/trace.json")
    }
    #expect(error.path == "/nowhere/at/all/trace.json")
    #expect(
      error.description == "cannot write the trace to /nowhere/at/all/trace.json: "
        + "No such file or directory. Create the folder first, or use another path.")
    let folder = try #require(throws: TraceFileError.self) { try TraceFile("/") }
    #expect(folder.description.contains("Use the path of a file in that folder."))
  }

  #if os(Linux)
    @Test func `an error while writing does not affect the run, and is thrown by close`()
      async throws
    {
      for count in [1, 2_000] {
        let file = try TraceFile("/dev/full")
        let list = ParallelOperation((0..<count).map { index in SimpleOperation { index } })
        #expect(await list.observed(by: file).run().result?.count == count)
        for _ in 0..<2 {
          let error = try #require(throws: TraceFileError.self) { try file.close() }
          #expect(error.description.contains("/dev/full: No space left on device. Free disk space"))
        }
      }
    }
  #endif
}
