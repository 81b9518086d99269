import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimelineDiagramTests {
  @Test
  func `a parallel composite ends with its last child, or cancels the others at the first failure`()
    throws
  {
    let parallel = { @Sendable (children: [AnyOperation<Int>]) in ParallelOperation(children) }
    try TimelineTest([], composing: parallel).expect("r", children: [])
    try TimelineTest(["--r", "r", "---r"], composing: parallel)
      .expect("---r", children: ["--r", "r", "---r"])?.expectResult([0, 1, 2])
    try TimelineTest(["---r", "-^", "--r"], composing: parallel)
      .expect("-^", children: ["-x", "-^", "-x"])?.expectError(ParallelOperationError.self)
    try TimelineTest(["---r", "-;"], composing: parallel).expect("-;", children: ["-x", "-;"])
    // A child that ignores its cancellation is awaited.
    try TimelineTest(["=====r", "-^"], composing: parallel)
      .expect("-----^", children: ["-!---r", "-^"])
    try TimelineTest(["=--r", "^"], composing: parallel).expect("-^", children: ["!x", "^"])
    try TimelineTest(["-", "--r"], composing: parallel).expect("-----", children: ["-", "--r"])
  }

  @Test func `children that wait for a place begin later`() throws {
    let test = TimelineTest(["--r", "---r", "-r", "r"]) { children in
      ParallelOperation(children, width: .limited(to: 2))
    }
    try test.expect("---r", children: ["--r", "---r", "..-r", "...r"])
    try TimelineTest(["-^", "-r"]) { ParallelOperation($0, width: .limited(to: 1)) }
      .expect("-^", children: ["-^", ""])
    try TimelineTest(["-^", "-r"]) { children in
      ParallelOperation(children, width: .limited(to: 1), onFailure: .runAll)
    }.expect("--^", children: ["-^", ".-r"])
  }

  @Test
  func `a composite that is cancelled from outside cancels its children before they continue`()
    throws
  {
    let parallel = { @Sendable (children: [AnyOperation<Int>]) in ParallelOperation(children) }
    try TimelineTest(["--r", "r"], composing: parallel).expect("--x", children: ["--x", "r"])
    try TimelineTest(["-r", "====r"], composing: parallel)
      .expect("--!-x", children: ["-r", "--!-r"])
    try TimelineTest(["-r"], composing: parallel).expect("x", children: [""])
    // Without the cancellation, nothing would happen.
    try TimelineTest(["-"], composing: parallel).expect("---x", children: ["---x"])
    // The composite has ended before the cancellation.
    #expect(throws: TimelineMismatchError.self) {
      try TimelineTest(["-r"], composing: parallel).expect("--x")
    }
  }

  @Test func `an unexpected child is a mismatch, even if the composite is as expected`()
    throws
  {
    let test = TimelineTest(["-^", "-r"]) { ParallelOperation($0, width: .limited(to: 1)) }
    for never in ["", ".", "...", " "] {
      try test.expect("-^", children: ["-^..", never])
    }
    let others = [
      ["-x", ""], ["--^", ""], ["^", ""], ["-^.^", ""], ["-^", "-"], ["-^", ".-x"],
    ]
    for other in others {
      #expect(throws: TimelineMismatchError.self, "\(other)") {
        try test.expect("-^", children: other)
      }
    }
  }

  @Test func `a race is won by the first result`() throws {
    try TimelineTest(["---r", "-^", "--r"]) { RaceOperation($0) }
      .expect("--r", children: ["--x", "-^", "--r"])?.expectResult(2)
    try TimelineTest(["--^", "-;"]) { RaceOperation($0) }.expect("--^", children: ["--^", "-;"])
  }

  @Test func `steps follow one another, and a fallback follows an error`() throws {
    try TimelineTest(["--r", "-r", "r"]) { SequentialOperation(.linear($0)) }
      .expect("---r", children: ["--r", "..-r", "...r"])
    try TimelineTest(["--r", "-^", "r"]) { SequentialOperation(.linear($0)) }
      .expect("---^", children: ["--r", "..-^", ""])
    try TimelineTest(["-^", "--r"]) { $0[0].fallingBack(toEachOf: [$0[1]]) }
      .expect("---r", children: ["-^", ".--r"])
  }

  @Test func `every run of a retried child has its own script`() throws {
    let child = "-^|--^|-r"
    try TimelineTest([child]) { $0[0].retrying(attempts: 3) }
      .expect("----r", children: ["-^-^r"])?.expectResult(0)
    try TimelineTest([child]) { $0[0].retrying(attempts: 3, backoff: .constant(.seconds(2))) }
      .expect("--------r", children: ["-^.--^.-r"])
    try TimelineTest(["^|^|r"]) { $0[0].retrying(attempts: 3) }.expect("r", children: ["[^^r]"])
    try TimelineTest(["-^|-;"]) { $0[0].retrying(attempts: 3) }.expect("--;", children: ["-^;"])
    // Cancelled during a delay.
    try TimelineTest(["-^|r"]) { $0[0].retrying(attempts: 2, backoff: .constant(.seconds(5))) }
      .expect("---x", children: ["-^"])
  }

  @Test func `a timeout cancels its body, and waits for it or abandons it`() throws {
    let limit = Duration.seconds(2)
    try TimelineTest(["-r"]) { $0[0].timingOut(after: limit) }.expect("-r", children: ["-r"])
    try TimelineTest(["---r"]) { $0[0].timingOut(after: limit) }.expect("--^", children: ["--x"])
    try TimelineTest(["====r"]) { $0[0].timingOut(after: limit) }
      .expect("----^", children: ["--!-r"])
    try TimelineTest(["====r"]) { $0[0].timingOut(after: limit, .abandoning) }
      .expect("--^", children: ["--!-r"])
    try TimelineTest(["---r|-r"]) { $0[0].timingOut(after: limit).retrying(attempts: 2) }
      .expect("---r", children: ["--x r"])
  }

  @Test func `events between two ticks are shown at the earlier one, in order`() throws {
    try TimelineTest(["---r", "--r"]) { children in
      ParallelOperation([
        AnyOperation(children[0].timingOut(after: .milliseconds(1_500))), children[1],
      ])
    }.expect("-^", children: ["-x", "-x"])
  }

  @Test func `a mismatch shows the expected above the actual timeline, aligned by tick`() throws {
    let test = TimelineTest(["^|--r", "----r"]) { children in
      ParallelOperation([AnyOperation(children[0].retrying(attempts: 2)), children[1]])
    }
    let error = try #require(
      #expect(throws: TimelineMismatchError.self) {
        try test.expect("--r", children: ["[^-]-r", "----r"], file: "Tests/Sync.swift", line: 12)
      })
    #expect(
      error.description == """
        Tests/Sync.swift:12: the timelines differ from the expected ones with seed 0:

          tick                 0   1234
          composite  expected  -   -r
                     seen      -   ---r  ← differs
          child 0    expected  [^-]-r
          ^|--r      seen      ^   -r    ← differs
          child 1    expected  -   ---r
          ----r      seen      -   ---r

        outcome of the composite: the result [0, 1]
        """)
    let brief = try #require(
      #expect(throws: TimelineMismatchError.self) {
        try TimelineTest(["-"]) { ParallelOperation($0) }.expect("-^")
      })
    #expect(
      brief.description.hasSuffix(
        """
          tick                 01
          composite  expected  -^
                     seen      -   ← differs
          child 0    seen      -
          -

        outcome of the composite: none
        """), "\(brief)")
  }

  @Test func `an order that matters at one tick is reported by its seed, which replays it`() throws
  {
    let tie = TimelineTest(["-r", "-r"]) { children in
      RaceOperation(children).map { winner in if winner == 1 { throw ScriptedError("lost") } }
    }
    let error = #expect(throws: TimelineMismatchError.self) { try tie.expect("-r") }
    let seed = try #require(error?.seed)
    #expect(throws: TimelineMismatchError.self) { try tie.expect("-r", seeds: seed..<seed + 1) }
    if seed > 0 { try tie.expect("-r", seeds: 0..<seed) }
    let other = #expect(throws: TimelineMismatchError.self) { try tie.expect("-^") }
    #expect(other?.seed != seed)
  }

  @Test func `a child that runs more often than its script says is reported`() {
    let error = #expect(throws: ScriptExhaustedError.self) {
      try TimelineTest(["-^"]) { $0[0].retrying(attempts: 2) }.expect("-^")
    }
    #expect(error?.name == "child 0" && error?.scriptedRuns == 1 && error?.run == 2)
  }

  @Test func `a composite that runs forever, within one tick or not, does not hang`() throws {
    let spinning = SimpleOperation {
      while !Task.isCancelled { await Task.yield() }
      return 1
    }
    let error = #expect(throws: SeededExecutorStuckError.self) {
      try TimelineTest([]) { _ in spinning }.expect("r", seeds: 0..<1)
    }
    #expect(error?.isAtLimit == true)
    let polling = SimpleOperation { 1 }
      .repeating(backoff: .constant(.seconds(1))) { _ in false }
    #expect(try TimelineTest([]) { _ in polling }.expect("---") == nil)
    #expect(throws: TimelineMismatchError.self) {
      try TimelineTest([]) { _ in polling }.expect("---r")
    }
  }

  /// An invalid timeline, with the position and a part of the reason in its error.
  private struct Unclear: Sendable {
    let child: String
    let composite: String
    let offset: Int
    let word: String

    init(child: String = "r", composite: String = "r", at offset: Int, _ word: String) {
      self.child = child
      self.composite = composite
      self.offset = offset
      self.word = word
    }
  }

  @Test func `an invalid timeline is reported with the position and the reason`() {
    let cases = [
      Unclear(child: "--a", at: 2, "unexpected \"a\""),
      Unclear(child: "--r^", at: 3, "follow the end"),
      Unclear(child: "-r-", at: 2, "follow the end"),
      Unclear(child: "", at: 0, "one tick"),
      Unclear(child: "-r|", at: 3, "one tick"),
      Unclear(child: "-r|-x", at: 4, "unexpected \"x\""),
      Unclear(child: "-==", at: 3, "needs an end"),
      Unclear(composite: "", at: 0, "one tick"),
      Unclear(composite: "--=r", at: 2, "unexpected \"=\""),
      Unclear(composite: "-r^", at: 2, "follow the end"),
      Unclear(composite: "-.r", at: 1, "to its end"),
      Unclear(composite: "-!!x", at: 2, "cancelled again"),
      Unclear(composite: "-!r", at: 2, "only end by"),
      Unclear(composite: "-[r", at: 1, "without a \"]\""),
      Unclear(composite: "-]r", at: 1, "without a \"[\""),
      Unclear(composite: "-[]", at: 2, "one mark"),
      Unclear(composite: "[[r]]", at: 1, "inside of"),
    ]
    for unclear in cases {
      let error = #expect(throws: TimelineSyntaxError.self, "\(unclear)") {
        try TimelineTest([unclear.child]) { ParallelOperation($0) }.expect(unclear.composite)
      }
      #expect(error?.offset == unclear.offset, "\(unclear)")
      #expect(
        error?.reason.contains(unclear.word) == true, "\(unclear): \(String(describing: error))")
    }
    let error = #expect(throws: TimelineSyntaxError.self) {
      try TimelineTest(["r"]) { ParallelOperation($0) }.expect("r", children: ["--?"])
    }
    #expect(error?.description.hasSuffix("\n  --?\n    ▲") == true)
  }

  @Test func `spaces are ignored`() throws {
    try TimelineTest(["- - r", "-^ | -r"]) { children in
      ParallelOperation([children[0], AnyOperation(children[1].retrying(attempts: 2))])
    }.expect("-- r", children: ["--  r", "- ^ r"])
  }

  @Test func `expecting another number of children is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      try TimelineTest(["r"]) { ParallelOperation($0) }.expect("r", children: ["r", "r"])
    }
  }
}
