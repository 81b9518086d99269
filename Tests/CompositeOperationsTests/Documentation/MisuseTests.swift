import Testing

/// The compiler's messages for code that does not do what it seems to do, or that uses a name from
/// another library.
@Suite struct MisuseTests {
  private static func problems(of code: String) async throws -> [String] {
    let source = """
      import CompositeOperations
      func use() async throws {
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
          _ = (graph, none)
        """)
    #expect(problems == [])
  }
}
