import FlowFiles
import Testing

/// The messages of the documentation, as a terminal shows them.
@Suite(.needsYAML)
struct MessageTests {
  private func message(of text: String) -> String {
    do throws(FlowFileError) {
      _ = try FlowFile(parsing: Array(text.utf8), path: "release.yaml")
      return ""
    } catch {
      return error.description
    }
  }

  @Test func `L3: an unknown step has the name of a similar step`() {
    let text = """
      flow: release
      steps:
        test:
          run: [swift, test]



        pack:
          run: tar
          outputs: [x.tar]
          needs: [
          tests]
      """
    #expect(
      message(of: text)
        == "release.yaml:12:5: unknown step 'tests' in needs of 'pack'; did you mean 'test'?")
  }

  @Test func `an unknown key has the name of a similar key`() {
    let text = """
      flow: release


      steps:
       build: {run: [make]}

       test:
        run: [swift, test]
        need: [build]
      """
    #expect(
      message(of: text)
        == "release.yaml:9:3: unknown key 'need' in step 'test'; expected 'needs'")
  }

  @Test func `L3: a cycle names each of its steps`() {
    let text = """
      flow: release




      steps:
        a: {run: [x], needs: [b]}
        b: {run: [x], needs: [a]}
      """
    #expect(message(of: text) == "release.yaml:7:3: cycle: 'a' needs 'b', which needs 'a'")
  }

  @Test func `an invalid duration shows a valid one`() {
    let text = """
      flow: release
      steps:
        a:
          run: [x]
          timeout: 10 minutes
      """
    #expect(
      message(of: text)
        == "release.yaml:5:14: invalid duration '10 minutes'; expected a number and ms, s, m or h, such as 10m"
    )
  }

  @Test func `L3: a duplicate output names both steps`() {
    let text = """
      flow: release
      steps:
        pack:
          run: [x]
          outputs: [dist/x.tar.gz]
        ship:
          run: [x]
          outputs: [dist/x.tar.gz]
      """
    #expect(
      message(of: text)
        == "release.yaml:8:15: duplicate output dist/x.tar.gz of steps 'pack' and 'ship'")
  }

  /// The outputs of the steps a and b, each with the key each, and whether they can be the same file.
  static let overlaps: [(String, String, Bool)] = [
    ("out/a*", "out/*b", true), ("out/*.txt", "out/b.txt", true), ("out/b.txt", "out/*.txt", true),
    ("out/*.txt", "out/*.csv", false), ("out/a*", "out/b*", false), ("out/*", "out/b/c", true),
    ("out/*.txt", "out/b/c.txt", false), ("**/*.o", "lib/a?.o", true), ("**/*.o", "x.o", true),
    ("**", "lib/x/*.c", true), ("out/?", "out/ab", false), ("out/[a-c]*", "out/[c-e]*", true),
    ("out/[a-c]*", "out/[d-e]*", false), ("out/[a-c]", "out/[^a-z]", false),
    ("out/*", "out/.b", false),
    ("out/*", "out/.*", false), ("**/*.o", "**/*.d", false), ("out/*", "out/b/c*", false),
    ("out/.*", "out/.b*", true), ("out/**/b", "out/b", true),
    ("out/**/b", "out/**/c", false), ("*/b", "**/b/c", false), ("{a,b}*", "b1", true),
    ("out/[é]", "out/é", true), ("out/x*", "out/x", true), ("sub/../out/*", "out/y", true),
    // The values of the children of b are known, and these of c are not.
    ("out/1*", "out/${each}.txt", true), ("out/3*", "out/${each}.txt", false),
    ("out/*.txt", "out/${each.line}.txt", true), ("out/a*.txt", "out/${each.line}.txt", false),
    ("out/*.csv", "out/${each.line}.txt", false),
  ]

  @Test(arguments: overlaps)
  func `L15: outputs of two steps that can be the same file name both steps and both outputs`(
    first: String, second: String, isError: Bool
  ) {
    let isUnknown = second.contains("line")
    let each =
      isUnknown ? "each: {lines-of: n}, " : second.contains("each") ? "each: [1, 2], " : ""
    let output = second.replacing("${each.line}", with: "${each}")
    let text = """
      flow: release
      steps:
        a: {run: [x], outputs: ['\(first)']}
        b: {run: [x], \(each)outputs: ['\(output)']}
        n: {run: [x]}
      """
    let name = isUnknown ? output : output.replacing("${each}", with: "1")
    let expected =
      "output '\(name)' of step 'b' and output '\(first)' of step 'a' can be the same file, so that each of them "
      + "would change the output of the other; give them different folders or names"
    let found = message(of: text)
    #expect(found.isEmpty != isError, "\(found)")
    #expect(!isError || found.hasSuffix(": \(expected)"), "\(found)")
  }

  @Test func `a syntax error has the place and the context`() {
    let text = """
      flow: release
      steps:
        a: {run: [x]
        b: {run: [x]}
      """
    #expect(
      message(of: text)
        == "release.yaml:4:3: did not find expected ',' or '}' (while parsing a flow mapping)")
  }

  @Test func `L3: all problems are lines in the order of the file`() {
    let text = """
      flow: a b
      steps:
        c: {run: [], needs: d, retries: x}
      width: 0
      """
    #expect(
      message(of: text) == """
        release.yaml:1:7: invalid flow name 'a b'; expected letters, digits, '.', '_' and '-'
        release.yaml:3:12: the command in run of 'c' is empty
        release.yaml:3:23: unknown step 'd' in needs of 'c'
        release.yaml:3:35: invalid number 'x' in retries of 'c'; expected a whole number from 0 to 1000
        release.yaml:4:8: invalid number '0' in width; expected a whole number from 1 to 10000
        """)
  }

  @Test func `L14: outputs and values in NFC and in NFD are different`() {
    let text = """
      flow: f
      steps:
        a: {run: [x], outputs: "\u{e9}"}
        b: {run: [x], outputs: "e\u{301}"}
        c: {run: [x], each: ["\u{e9}", "e\u{301}"], outputs: "c${each}", inputs: "\u{e9}", needs: a}
      """
    #expect(message(of: text).isEmpty)
  }

  @Test(arguments: [
    ("each: '*.csv'", "25: each '*.csv' of step 'use' matches"),
    ("each: {rows-of: a.csv}", "35: rows-of 'a.csv' of step 'use' is"),
    ("in: d, each: {rows-of: a.csv}", "42: rows-of 'a.csv' of step 'use' is"),
    ("in: d, stdin: ../d/../a.csv", "33: stdin '../d/../a.csv' of step 'use' is or contains"),
  ])
  func `L15: what gives children or the standard input needs the step that makes it`(
    use: String, problem: String
  ) {
    func text(_ needs: String) -> String {
      """
      flow: f
      steps:
        make: {run: [x], outputs: [a.csv]}
        use: {run: [x], \(needs)\(use)}
      """
    }
    #expect(
      message(of: text(""))
        == "release.yaml:4:\(problem) an output of step 'make'; add needs: [make]")
    #expect(message(of: text("needs: make, ")).isEmpty)
  }

  @Test func `L15: an input that is an output of another step needs that step`() {
    func text(_ use: String) -> String {
      """
      flow: f
      values: {star: "*", o: x.o}
      steps:
        make: {run: [x], outputs: ["${o}"]}
        middle: {run: [x], needs: make}
        use: {run: [x], \(use)}
      """
    }
    let problem =
      "release.yaml:6:%: input '$' of step 'use' is an output of step 'make'; add needs: [make]"
    #expect(
      message(of: text("inputs: x.o"))
        == problem.replacing("%", with: "27").replacing("$", with: "x.o"))
    #expect(
      message(of: text("inputs: '*.o'"))
        == problem.replacing("%", with: "27").replacing("is an", with: "matches an")
        .replacing("$", with: "*.o"))
    #expect(
      message(of: text("after: make, inputs: x.o"))
        == problem.replacing("%", with: "40").replacing("$", with: "x.o"))
    for use in [
      "inputs: x.o, needs: make", "inputs: ['?.o'], needs: middle", "inputs: '${star}.o'",
      "inputs: '\\*.o'", "inputs: x.o, each: {lines-of: make}", "inputs: y/x.o",
      "in: y, inputs: x.o",
      "inputs: '*/x.o'", "inputs: '*.?', outputs: x.a, needs: middle",
    ] { #expect(message(of: text(use)).isEmpty, "\(use)") }
  }

  @Test func `a file that cannot be read has no position`() {
    #expect(throws: FlowFileError.self) { try FlowFile.read(contentsOf: "/nowhere/flow.yaml") }
    do throws(FlowFileError) { _ = try FlowFile.read(contentsOf: "/nowhere/flow.yaml") } catch {
      #expect(
        error.description
          == "/nowhere/flow.yaml: the file cannot be read: No such file or directory")
    }
  }
}
