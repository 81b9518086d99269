import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import OperationTracing
import Testing

@Suite struct TimelinePageTests {
  /// Texts that would end a script, an element, a value or a line, or that are invalid in XML.
  static let nastyTexts = [
    "</script><script>alert(1)</script>", "<!--<script>", "]]>", "\"quoted\" & 'single' \\",
    "\u{0}\u{1b}[31m\u{7f}\u{85}\u{fffe}\u{ffff}", "line\u{2028}line\u{2029}line\r\nline\tline",
    "\u{202e}backwards", "👩‍👩‍👧‍👦", "e" + String(repeating: "\u{301}", count: 5_000), "",
    String(repeating: "very long ", count: 1_000),
  ]

  static let nasty: OperationTrace = {
    var made = HandMadeTrace()
    for (index, text) in nastyTexts.enumerated() {
      made.add(
        text, index, to: index + 5,
        index.isMultiple(of: 2) ? .error(text) : .cancelled(reason: text),
        lane: index, waits: [(.permits([text]), index, index + 1)], notes: [text])
    }
    return made.trace
  }()

  @Test func `the page contains every run`() throws {
    var made = HandMadeTrace()
    let list = made.add("list", 0, to: 10)
    made.add("one", below: list, 1, to: 5, .error("no"), attempt: 2)
    made.add("two", below: list, 1, start: -1, to: nil, lane: 1, waits: [(.rate, 2, nil)])
    made.add("three", below: list, 6, to: 9, .cancelled(reason: "enough"), notes: ["a note"])
    let page = try TimelineContents(of: made.trace, title: "A title")
    #expect(page.title == "A title")
    #expect(page.ids.map { "#\($0)" } == made.spans.map { "\($0.id)" })
    #expect(page.runNames.map { page.names[$0] } == ["list", "one", "two", "three"])
    #expect(page.parents == [-1, 0, 0, 0])
    #expect(page.rows == [0, 1, 2, 1] && page.lanes == [0, 2, 3])
    #expect(page.ends == "reuc")
    #expect(page.created == [0, 1_000_000, 1_000_000, 6_000_000])
    #expect(page.ended == [10_000_000, 5_000_000, 10_000_000, 9_000_000])
    #expect(page.attempts == [1, 2])
    #expect(page.reasons.count == 4 && page.texts[page.reasons[1]] == "no")
    #expect(page.waits.count == 4 && page.waits[2...] == [2_000_000, -1])
    #expect(page.notes.count == 4 && page.texts[Int(page.notes[3])] == "a note")
    #expect(page.path == [0, 0, 1_000_000, 2, 1_000_000, 10_000_000])
    #expect(page.concurrency.count == 1_000)
  }

  @Test func `names and errors are shown unchanged, and are escaped in the page`()
    throws
  {
    let page = try TimelineContents(of: Self.nasty, title: Self.nastyTexts[0])
    #expect(page.title == Self.nastyTexts[0])
    for (index, text) in Self.nastyTexts.enumerated() {
      let name = page.names[page.runNames[index]]
      #expect(name == text || name.unicodeScalars.count == 300 && name.hasSuffix("…"), "\(index)")
    }
    let html = Self.nasty.html(title: Self.nastyTexts[0])
    #expect(html.components(separatedBy: "<script").count == 3)
    #expect(html.components(separatedBy: "</script>").count == 3)
    #expect(
      try TimelineContents.part(of: html, from: "<title>", to: "</title>")
        == "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;")
    let controls = html.unicodeScalars.filter { $0.properties.generalCategory == .control }
    #expect(Set(controls) == ["\n"])
  }

  @Test func `the page loads nothing from elsewhere`() {
    let html = Self.nasty.html
    for word in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "import("] {
      #expect(!html.contains(word), "\(word)")
    }
  }

  @Test func `an empty trace has a page, too`() throws {
    let page = try TimelineContents(of: OperationTrace(beginning: 0, spans: []))
    #expect(page.ids.isEmpty && page.lanes == [0] && page.concurrency.isEmpty)
  }

  @Test func `the page contains all runs, however many and however deeply nested`() throws {
    for isNested in [false, true] {
      let page = try TimelineContents(of: HandMadeTrace.chain(of: 10_000, isNested: isNested))
      #expect(page.ids.count == 10_000)
      #expect(page.overlaps == [])
      #expect(page.lanes == [0, isNested ? 10_000 : 1])
    }
  }

  @Test func `the runs of one row never overlap`() async throws {
    for seed in 0..<150 as Range<UInt64> {
      let trace = await Self.randomTrace(seed: seed)
      try #require(!trace.spans.isEmpty)
      let page = try TimelineContents(of: trace)
      try #require(page.overlaps == [], "seed \(seed)")
      let summary = trace.summary
      let whole = summary.criticalPath.reduce(.zero) { $0 + $1.duration }
      try #require(whole <= summary.wallTime, "seed \(seed)")
      for (one, next) in zip(summary.criticalPath, summary.criticalPath.dropFirst()) {
        try #require(one.ended == next.began, "seed \(seed)")
      }
    }
  }

  /// Returns the trace of a random composite on one worker, so that events are in the order of
  /// their times.
  private static func randomTrace(seed: UInt64) async -> OperationTrace {
    var generator = TreeGenerator(seed: seed)
    let recorder = Recorder(cancellationPoint: nil)
    let tracer = TraceRecorder()
    let executor = SeededExecutor(seed: seed)
    var environment = OperationEnvironment(observers: [tracer], executor: executor)
    environment.clock = recorder.clock
    let run = Builder(recorder: recorder).operation(generator.tree(of: 12)).start(in: environment)
    // Some trees wait until they are cancelled.
    executor.drain { job in if job == 60 { run.cancel() } }
    run.cancel()
    executor.drain()
    return tracer.trace
  }
}
