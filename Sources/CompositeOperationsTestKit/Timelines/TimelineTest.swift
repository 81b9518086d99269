public import CompositeOperations

/// Tests a composite by timelines: what its children do by themselves, and what becomes of all of them.
///
/// ```swift
/// try TimelineTest(["---r", "-^", "--r"]) { children in ParallelOperation(children) }
///   .expect("-^", children: ["-x", "-^", "-x"])
/// ```
///
/// A timeline has a character a tick, and a tick is a second of the environment's clock, which takes no
/// time. Spaces do not count. The first character is tick 0, at which the composite begins: `--r` ends two
/// ticks after it began, and `r` at once.
///
/// What a child does by itself, from its own beginning:
///
/// | | |
/// |---|---|
/// | `-` | goes on for a tick, and stops when it is cancelled |
/// | `=` | goes on for a tick, cancelled or not |
/// | `r` | ends in a result, the child's number from 0 |
/// | `^` | ends in an error, a ``ScriptedError`` |
/// | `;` | cancels itself |
/// | `\|` | between one run and the next, of a child that is run several times: `-^\|--r` |
///
/// A run without an end goes on until it is cancelled.
///
/// What is expected, of the composite or of a child, from tick 0:
///
/// | | |
/// |---|---|
/// | `-` | goes on |
/// | `.` | has not begun, or is not running between two runs |
/// | `r` `^` `;` | ends in a result, in an error, by cancelling itself |
/// | `x` | ends because it was cancelled |
/// | `!` | is asked to cancel, and ends at a later tick |
/// | `[^^r]` | several things, one after the other at the same tick |
///
/// What goes on at the end of a timeline goes on for ever, or for a thousand ticks, after which nobody looks
/// any more. A child that never runs has an empty one, or points. What happens between two ticks shows at the
/// earlier one.
///
/// An `x` or `!` in the composite's own timeline is also what the test does: at this tick somebody outside
/// cancels the composite, before anything else that the tick brings.
///
/// ```swift
/// try TimelineTest(["-r", "====r"]) { children in ParallelOperation(children) }
///   .expect("--!-x", children: ["-r", "--!-r"])
/// ```
public struct TimelineTest<Success: Sendable>: Sendable {
  private let scripts: [String]
  private let composing: @Sendable ([AnyOperation<Int>]) -> AnyOperation<Success>

  /// - Parameters:
  ///   - children: What each child does by itself.
  ///   - composing: Makes the composite of the children. It is called once for every seed.
  public init<Composite: ComposableOperation<Success>>(
    _ children: [String], composing: @escaping @Sendable ([AnyOperation<Int>]) -> Composite
  ) {
    scripts = children
    self.composing = { AnyOperation(composing($0)) }
  }

  /// Runs the composite and compares what happens with what is expected.
  ///
  /// What happens at the same tick happens in an order that a seed chooses. The composite is run under
  /// several, and has to be the same under all of them.
  ///
  /// - Parameters:
  ///   - composite: What is expected of the composite, and when to cancel it from outside.
  ///   - children: What is expected of each child; nil if it does not matter.
  ///   - seeds: The orders to try.
  ///   - file: The module and the file that an error names.
  ///   - line: The line that an error names.
  /// - Returns: How the composite ended under the last seed; nil if it did not.
  /// - Throws: A ``TimelineMismatchError`` if something else happens, a ``TimelineSyntaxError`` if a
  ///   timeline cannot be read, a ``ScriptExhaustedError`` if a child is run more often than it has runs, and
  ///   a ``SeededExecutorStuckError`` if a tick does not come to its end.
  /// - Precondition: As many children are expected as there are, and there is a seed.
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
