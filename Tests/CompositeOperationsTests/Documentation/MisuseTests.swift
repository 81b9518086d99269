import Testing

/// The compiler's messages for code that does not do what it seems to do, or that uses a name from
/// another library.
@Suite struct MisuseTests {
  private static func problems(of code: String) async throws -> [String] {
    let source = """
      import CompositeOperations
      func use() async throws {
        let one = SimpleOperation { 1 }, two = SimpleOperation { true }
        \(code)
      }
      """
    return try await ExampleCompiler().problems(ofSources: [source])
  }

  @Test(arguments: [
    (
      """
      let graph = OperationGraph { graph in
          let one = graph.add(SimpleOperation { 1 })
          graph.add(needing: one) { number in SimpleOperation { number + 1 } }
        }
      """, "error: ", "return the node whose result is the result of the graph"
    ),
    ("_ = ParallelOperation()", "warning: ", "ParallelOperation([first, second])"),
    ("_ = ParallelOperation(width: .serial)", "warning: ", "ParallelOperation([first, second])"),
    (
      """
      let first = SimpleOperation { 1 }, second = SimpleOperation { true }
        _ = ParallelOperation([first, second])
      """, "error: ", "without brackets"
    ),
    (
      "SimpleOperation { 1 }.start().cancel(with: Skipped(because: \"it is late\"))", "error: ",
      "cancel(because:)"
    ),
    ("_ = one.requiring { true }", "error: ", "requiring(Condition(\"is online\") { … })"),
    (
      "_ = one.requiring { await Task.yield(); return true }", "error: ",
      "requiring(Condition(\"is online\") { … })"
    ),
    ("_ = one.requiring(\"x\") { true }", "error: ", "requiring(Condition(\"is online\") { … })"),
    ("_ = one.requiring(two)", "error: ", "requiring(Condition(operation))"),
    ("_ = one.requiring(one)", "error: ", "other.then { _ in operation }"),
    (
      "_ = one.then { _ in throw CancellationError() }", "error: ",
      "use `map` for one that only throws"
    ),
    (
      "_ = one.then { n in if n > 0 { one } else { throw CancellationError() } }", "error: ",
      "write `return` before the operations of the others"
    ),
    (
      "_ = one.catching { error in throw error }", "error: ",
      "use `recovering` for one that only throws"
    ),
    (
      "_ = one.catching { error in if error is Skipped { one } else { throw error } }", "error: ",
      "write `return` before the operations of the others"
    ),
  ])
  func `the compiler's message for misuse says what to write`(
    code: String, severity: String, advice: String
  ) async throws {
    let problems = try await Self.problems(of: code)
    #expect(problems.contains { $0.contains(severity) && $0.contains(advice) }, "\(problems)")
  }

  @Test func `the code that the messages advise compiles`() async throws {
    let problems = try await Self.problems(
      of: """
        let graph = OperationGraph { graph in
            let one = graph.add(SimpleOperation { 1 })
            return graph.add(needing: one) { number in SimpleOperation { number + 1 } }
          }
          let none = OperationGraph(giving: Void.self) { graph in
            let one = graph.add(SimpleOperation { 1 })
            graph.add(needing: one) { number in SimpleOperation { number + 1 } }
          }
          let first = SimpleOperation { 1 }, second = SimpleOperation { true }
          _ = (ParallelOperation(first, second), ParallelOperation([first, first]))
          _ = ParallelOperation { [first] }
          first.start().cancel(because: "it is late")
          _ = first.requiring(Condition("is online") { true }, Condition(second))
          _ = first.then { _ in second }
          _ = first.map { _ -> Int in throw CancellationError() }
          _ = first.then { n in if n > 0 { return first } else { throw CancellationError() } }
          _ = first.recovering { error in throw error }
          _ = first.catching { error in
            if error is Skipped { return first } else { throw error }
          }
          _ = (graph, none)
        """)
    #expect(problems == [])
  }

  @Test func `the handle of a run need not be used`() async throws {
    let source = """
      import CompositeOperations
      func use(pool: OperationPool) async {
        SimpleOperation { 1 }.start()
        pool.submitNow(SimpleOperation { 1 })
        await pool.submit(SimpleOperation { 1 })
      }
      """
    let problems = try await ExampleCompiler().problems(
      ofSources: [source], arguments: ["-warnings-as-errors"])
    #expect(problems == [])
  }

  // All programs are compiled as one file. Only those without the right error are compiled alone,
  // so that a crash of the compiler is attributed.
  @Test func `every wrong program has an error at its line, and none at another`() async throws {
    let blocks = wrongPrograms.split(separator: "\n\n", omittingEmptySubsequences: true)
    let prelude = blocks.prefix { !$0.hasPrefix("func ") && !$0.hasPrefix("//") }
      .joined(separator: "\n\n")
    let programs = blocks.filter { $0.hasPrefix("func ") }
    #expect(programs.count >= 40)
    let together = ([prelude] + programs.map(String.init)).joined(separator: "\n\n")
    let problems = try await ExampleCompiler().problems(ofSources: [together])
    let errors = Self.linesOfErrors(in: problems)
    var first = prelude.split(separator: "\n", omittingEmptySubsequences: false).count + 2
    for program in programs {
      let lines = program.split(separator: "\n", omittingEmptySubsequences: false)
      let expected = lines.indices.filter { lines[$0].hasSuffix("// error") }.map { first + $0 }
      let found = errors.filter { (first..<first + lines.count).contains($0) }
      if expected.count != 1 || Set(found) != Set(expected) {
        let alone = try await ExampleCompiler().problems(ofSources: ["\(prelude)\n\n\(program)"])
        Issue.record("\(program)\n\(alone.joined(separator: "\n"))")
      }
      first += lines.count + 1
    }
  }

  private static func linesOfErrors(in problems: [String]) -> [Int] {
    problems.compactMap { problem in
      guard problem.contains(": error: "), !problem.contains("failed to produce diagnostic"),
        !problem.contains("Stack dump")
      else { return nil }
      return problem.split(separator: ":").dropFirst().first.flatMap { Int($0) }
    }
  }
}
