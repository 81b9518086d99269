import CommandLineOperations
import CompositeOperations
import Synchronization
import Testing

@Suite struct ProgressPageTests {
  /// Receives the unfinished runs at a point inside a flow.
  private final class Snapshot: Sendable {
    private let observer = ProgressObserver()
    private let taken = Mutex<[ProgressObserver.Branch]>([])

    func take() { taken.withLock { $0 = observer.branches } }

    /// Runs a flow, and returns the page of the snapshot that its bodies have taken.
    func page(
      of flow: some ComposableOperation, after duration: Duration
    ) async throws -> ProgressPage {
      _ = try await flow.run(in: OperationEnvironment(observers: [observer])).get()
      let branches = taken.withLock { $0 }
      let began = try #require(branches.first).began
      return ProgressPage(branches, at: began + duration)
    }
  }

  private static let terminal = TerminalSize(columns: 80, rows: 24)

  /// A page of one operation that has reported its progress.
  private func page(
    _ name: String, _ completed: Int, of total: Int?, unit: String?, after duration: Duration
  ) async throws -> ProgressPage {
    let snapshot = Snapshot()
    let flow = SimpleOperation.withContext { context in
      context.report(completed, of: total, unit: unit)
      snapshot.take()
    }
    return try await snapshot.page(of: flow.named(name), after: duration)
  }

  @Test func `a line has the fraction, the amounts, the rate and the time left`() async throws {
    let files = try await page("sync", 420, of: 1_000, unit: "files", after: .seconds(10))
    #expect(
      files.lines(in: Self.terminal)
        == ["sync  42 %  420 of 1,000 files  42 files/s  14 s left"])
    let bytes = try await page("copy", 1_500_000, of: 3_000_000, unit: "bytes", after: .seconds(10))
    #expect(
      bytes.lines(in: Self.terminal) == ["copy  50 %  1.5 MB of 3.0 MB  150 kB/s  10 s left"])
  }

  @Test func `an early line has no rate and no time left`() async throws {
    let early = try await page("sync", 420, of: 1_000, unit: "files", after: .milliseconds(100))
    #expect(early.lines(in: Self.terminal) == ["sync  42 %  420 of 1,000 files"])
    let slow = try await page("sync", 1, of: 1_000, unit: nil, after: .seconds(10))
    #expect(slow.lines(in: Self.terminal) == ["sync  0 %  1 of 1,000  0/s"])
  }

  @Test func `an outermost run of unknown length has only its name`() async throws {
    let page = try await page("sync", 420, of: nil, unit: "files", after: .seconds(10))
    #expect(page.lines(in: Self.terminal) == ["sync"])
    #expect(page.summary == "sync")
  }

  @Test func `a page without runs has no lines and no summary`() {
    let page = ProgressPage([], at: .now)
    #expect(page.lines(in: Self.terminal).isEmpty)
    #expect(page.summary == nil)
  }

  @Test func `the attempt of a retried operation is shown`() async throws {
    struct Failure: Error {}
    let snapshot = Snapshot()
    let attempts = Mutex(0)
    let flow = SimpleOperation.withContext { context in
      if attempts.withLock({
        $0 += 1
        return $0
      }) < 3 {
        throw Failure()
      }
      snapshot.take()
    }
    let page = try await snapshot.page(
      of: flow.named("fetch").retrying(attempts: 3, backoff: .none), after: .zero)
    #expect(page.lines(in: Self.terminal).last?.hasSuffix("fetch (attempt 3)") == true)
  }

  /// A run with a run in it, and so on down to a level.
  private func nested(_ level: Int, _ innermost: Int, _ body: Snapshot) -> AnyOperation<Void> {
    AnyOperation(
      SimpleOperation.withContext { context in
        if level == innermost { return body.take() }
        try await context.run(nested(level + 1, innermost, body))
      }
      .named("level \(level)"))
  }

  @Test func `runs are indented below their parents`() async throws {
    let snapshot = Snapshot()
    let page = try await snapshot.page(of: nested(0, 2, snapshot), after: .zero)
    #expect(page.lines(in: Self.terminal) == ["level 0", "  level 1", "    level 2"])
    // No fraction is known, so the innermost run says the most.
    #expect(page.summary == "level 2")
  }

  @Test func `outer runs take precedence if there is not enough room`() async throws {
    let snapshot = Snapshot()
    let page = try await snapshot.page(of: nested(0, 29, snapshot), after: .zero)
    let lines = page.lines(in: Self.terminal)
    #expect(lines.count == 16)
    #expect(lines.first == "level 0")
    #expect(lines.dropLast().last == String(repeating: "  ", count: 14) + "level 14")
    #expect(lines.last == "  … and 15 more")
    #expect(
      page.lines(in: TerminalSize(columns: 80, rows: 5))
        == ["level 0", "  level 1", "  … and 28 more"])
    // Not even one line fits, which is still better than none.
    #expect(page.lines(in: TerminalSize(columns: 80, rows: 1)) == ["  … and 30 more"])
  }

  @Test func `lines are cut before they wrap`() async throws {
    let page = try await page("sync", 420, of: 1_000, unit: "files", after: .seconds(10))
    #expect(page.lines(in: TerminalSize(columns: 10, rows: 24)) == ["sync  42…"])
    #expect(page.lines(in: TerminalSize(columns: 1, rows: 24)) == ["…"])
  }

  @Test(arguments: [
    // Each character takes two columns.
    ("同期する", 8, "同期する"), ("同期する", 7, "同期す…"), ("同期する", 6, "同期…"),
    // Marks and joiners take none.
    ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
    ("می\u{200C}خواهم", 7, "می\u{200C}خواهم"), ("می\u{200C}خواهم", 6, "می\u{200C}خوا…"),
    ("हिन्दी", 5, "हिन्दी"), ("한글", 4, "한글"), ("👩\u{200D}🔬👩\u{200D}🔬", 3, "👩\u{200D}🔬…"),
  ])
  func `a line takes the columns of its characters`(
    name: String, columns: Int, expected: String
  ) async throws {
    let page = try await page(name, 0, of: nil, unit: nil, after: .zero)
    #expect(page.lines(in: TerminalSize(columns: columns + 1, rows: 24)) == [expected])
  }

  @Test func `names cannot send escape sequences or more lines to a terminal`() async throws {
    let page = try await page("a\u{1B}[2Jb\nc", 1, of: 2, unit: "x\r", after: .zero)
    #expect(page.lines(in: Self.terminal) == ["a·[2Jb·c  50 %  1 of 2 x·"])
    #expect(page.summary == "a·[2Jb·c  50 %  1 of 2 x·")
  }
}
