public import CompositeOperations

/// A test of a composite by timelines: the scripts of its children, and the expected behavior of
/// the composite and its children.
///
/// ```swift
/// try TimelineTest(["---r", "-^", "--r"]) { children in ParallelOperation(children) }
///   .expect("-^", children: ["-x", "-^", "-x"])
/// ```
///
/// A timeline has one character per tick. A tick is a second of the environment's clock, which
/// takes no real time. Spaces are ignored. The first character is tick 0, at which the composite
/// starts: `--r` ends two ticks after its start, and `r` immediately.
///
/// The script of a child, from the start of the child:
///
/// | | |
/// |---|---|
/// | `-` | runs for a tick, and stops when it is cancelled |
/// | `=` | runs for a tick, and ignores a cancellation |
/// | `r` | ends in a result, the child's number from 0 |
/// | `^` | ends in an error, a ``ScriptedError`` |
/// | `;` | cancels itself |
/// | `\|` | separates the runs of a child that is run several times: `-^\|--r` |
///
/// A run without an end waits until it is cancelled.
///
/// The expected timeline of the composite or of a child, from tick 0:
///
/// | | |
/// |---|---|
/// | `-` | is in flight |
/// | `.` | has not started, or is between two runs |
/// | `r` `^` `;` | ends in a result, in an error, by cancelling itself |
/// | `x` | ends because it was cancelled |
/// | `!` | is asked to cancel, and ends at a later tick |
/// | `[^^r]` | several events in this order at the same tick |
///
/// An operation that is in flight at the end of its timeline never ends, or not within 1,000 ticks,
/// after which the test stops. A child that never runs has an empty timeline, or only points.
/// Events between two ticks belong to the earlier tick.
///
/// An `x` or `!` in the timeline of the composite is also an action of the test: at this tick it
/// cancels the composite from outside, before any other event of the tick.
///
/// ```swift
/// try TimelineTest(["-r", "====r"]) { children in ParallelOperation(children) }
///   .expect("--!-x", children: ["-r", "--!-r"])
/// ```
public struct TimelineTest<Success: Sendable>: Sendable {
  private let scripts: [String]
  private let composing: @Sendable ([AnyOperation<Int>]) -> AnyOperation<Success>

  /// Creates a test.
  ///
  /// - Parameters:
  ///   - children: The scripts of the children.
  ///   - composing: A closure that makes the composite of the children. It is called once per seed.
  public init<Composite: ComposableOperation<Success>>(
    _ children: [String], composing: @escaping @Sendable ([AnyOperation<Int>]) -> Composite
  ) {
    scripts = children
    self.composing = { AnyOperation(composing($0)) }
  }

  /// Runs the composite and compares its behavior with the expected one.
  ///
  /// Events at the same tick happen in an order that a seed determines. The composite runs with
  /// several seeds, and must meet the expectation with each of them.
  ///
  /// - Parameters:
  ///   - composite: The expected timeline of the composite, and when to cancel it from outside.
  ///   - children: The expected timeline of each child; nil to expect nothing of them.
  ///   - seeds: The seeds to try.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Returns: The outcome of the composite with the last seed; nil if it did not end.
  /// - Throws: A ``TimelineMismatchError`` if the behavior differs, a ``TimelineSyntaxError`` if a
  ///   timeline is invalid, a ``ScriptExhaustedError`` if a child is run more often than its script
  ///   allows, and a ``SeededExecutorStuckError`` if a tick does not end.
  /// - Precondition: `children` has as many elements as the test has children, and `seeds` is not
  ///   empty.
  @discardableResult
  public func expect(
    _ composite: String, children: [String]? = nil, seeds: Range<UInt64> = 0..<20,
    file: String = #fileID, line: Int = #line
  ) throws -> Outcome<Success>? {
    precondition(
      children == nil || children?.count == scripts.count,
      "`children` must have \(scripts.count) elements, one a child (was \(children?.count ?? 0))")
    precondition(!seeds.isEmpty, "`seeds` must not be empty (was \(seeds))")
    let scripts = try scripts.enumerated().map { try TimelineScript($1, ofChild: $0) }
    let plan = try TimelinePlan(composite)
    let expected = try children?.map(Timeline.init)
    var outcome: Outcome<Success>?
    for seed in seeds {
      let report = try TimelineTrial(seed: seed).run(
        scripts, cancellingAt: plan.cancellationTick, by: composing)
      let rows =
        [
          TimelineMismatchError.Row(
            name: "composite", expected: plan.timeline, seen: report.composite)
        ]
        + scripts.indices.map { number in
          TimelineMismatchError.Row(
            name: "child \(number)", script: scripts[number].text, expected: expected?[number],
            seen: report.children[number])
        }
      if !rows.allSatisfy(\.isAsExpected) {
        throw TimelineMismatchError(
          seed: seed, rows: rows, end: report.outcome?.nameInSentence ?? "none", file: file,
          line: line)
      }
      outcome = report.outcome
    }
    return outcome
  }
}
