import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import OperationTracing
import Testing

@Suite struct LoggingTests {
  /// A log handler that keeps all lines.
  private struct Collector: OperationLogHandler {
    let lines = Log<OperationLogLine>()
    func write(_ line: OperationLogLine) { lines.add(line) }

    var texts: [String] {
      lines.entries.map { line in
        "\(line.level) \(line.path): "
          + line.text.replacing(/([0-9]+ (h|min) )?[0-9.]+ (ns|µs|ms|s|min)\b/, with: "n ms")
      }
    }
  }

  private func log(
    of operation: some ComposableOperation, level: OperationLogLevel
  ) async -> [String] {
    let collector = Collector()
    let logger = OperationLogger(collector, level: level)
    _ = await operation.run(in: OperationEnvironment(observers: [logger]))
    return collector.texts
  }

  private var talking: some ComposableOperation<Int> {
    SimpleOperation.withContext { context in
      context.log("one")
      context.log(.debug, "two")
      context.log(.critical, "three")
      return 1
    }.named("talker")
  }

  @Test func `V9: a logger passes on lines of its level and above, with the path of the run`()
    async
  {
    let list = ParallelOperation([talking], width: .serial).named("list")
    #expect(
      await log(of: list, level: .info) == [
        "info list/talker: one", "critical list/talker: three",
        "info list: ended in a result after n ms",
      ])
    #expect(
      await log(of: list, level: .debug) == [
        "debug list: started", "debug list/talker: started", "info list/talker: one",
        "debug list/talker: two", "critical list/talker: three",
        "debug list/talker: ended in a result after n ms",
        "info list: ended in a result after n ms",
      ])
    #expect(await log(of: list, level: .critical) == ["critical list/talker: three"])
    #expect(await log(of: list, level: .trace).count == 11)
  }

  @Test func `V9: a line that no observer wants is not created`() async {
    let made = Log<OperationLogLevel>()
    let operation = SimpleOperation.withContext { context in
      for level in OperationLogLevel.allCases {
        func line() -> String {
          made.add(level)
          return "line"
        }
        context.log(level, line())
      }
    }
    let collector = Collector()
    let environment = OperationEnvironment(observers: [
      ProgressObserver(), OperationLogger(collector, level: .critical),
      OperationLogger(collector, level: .warning),
    ])
    _ = await operation.run(in: environment)
    #expect(made.entries == [.warning, .error, .critical])
    _ = await operation.run(in: OperationEnvironment(observers: [ProgressObserver()]))
    _ = await operation.run()
    #expect(made.count == 3)
  }

  @Test func `V9: failures, retries and cancellations have levels by their severity`() async {
    let failing = SimpleOperation { throw TestError("no answer") }.named("fetch")
    let texts = await log(of: failing.retrying(attempts: 2), level: .notice)
    #expect(
      texts == [
        "warning fetch/fetch: failed after n ms: no answer",
        "notice fetch: attempt 2 follows after n ms: no answer",
        "warning fetch/fetch: failed after n ms: no answer",
        """
        error fetch: failed after n ms: RetryError
        ├─ attempt 1: no answer
        └─ attempt 2: no answer
        """,
      ])
    let collector = Collector()
    let gate = Gate()
    let logger = OperationLogger(collector, level: .notice)
    let run = SimpleOperation { try await gate.pass() }.named("held")
      .start(in: OperationEnvironment(observers: [logger]))
    await gate.waitForArrivals(1)
    run.cancel(because: "the window was closed")
    _ = await run.outcome
    #expect(
      collector.texts == [
        "notice held: asked to cancel because the window was closed",
        "notice held: cancelled after n ms",
      ])
  }

  @Test func `V9: a line has its time, its run and its attempt`() async throws {
    let collector = Collector()
    let before = Self.now
    let operation = SimpleOperation.withContext { context in
      context.log("here")
      throw TestError("failed")
    }.named("fetch").retrying(attempts: 2)
    let logger = OperationLogger(collector, level: .info)
    _ = await operation.run(in: OperationEnvironment(observers: [logger]))
    let lines = collector.lines.entries.filter { $0.text == "here" }
    #expect(lines.map(\.attempt) == [1, 2])
    #expect(lines[0].id < lines[1].id)
    for line in lines {
      #expect((before - 1_000_000_000...Self.now + 1_000_000_000) ~= line.nanosecondsSince1970)
    }
    #expect(lines[1].formatted.contains(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info/))
    #expect(lines[1].formatted.hasSuffix("fetch/fetch \(lines[1].id) (attempt 2): here"))
  }

  private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000_000) }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_123_456_789, "2000-02-29T00:00:00.123Z"),
      (1_795_348_984_999_999_999, "2026-11-22T12:03:04.999Z"),
      (-1_000_000, "1969-12-31T23:59:59.999Z"),
      (4_102_444_800_000_000_000, "2100-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `the time of a line is a date in ISO 8601 format`(nanoseconds: Int64, expected: String) {
    let line = OperationLogLine(
      level: .info, text: "a\nb", id: Self.id, path: OperationContext().path, attempt: 1,
      nanosecondsSince1970: nanoseconds)
    #expect(line.formatted == "\(expected) info  \(Self.id): a\n  b")
  }

  @Test func `V9: a line cannot control the terminal or forge another line`() {
    let text = "GET /\u{1B}[2J\rfake\r\n2026 error all is lost\u{7}"
    let line = OperationLogLine(
      level: .info, text: text, id: Self.id, path: OperationContext().path, attempt: 1,
      nanosecondsSince1970: 0)
    #expect(
      line.formatted.hasSuffix(
        ": GET /\\u{1b}[2J\n  fake\n  2026 error all is lost\\u{7}"))
  }

  private static let id = SimpleOperation {}.start().id
}
