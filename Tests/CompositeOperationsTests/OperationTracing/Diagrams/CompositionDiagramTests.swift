import CompositeOperations
import OperationTracing
import Testing

@Suite struct CompositionDiagramTests {
  private struct Fetch: ComposableOperation {
    let name: String
    var operationName: String { "Fetch \(name)" }
    func perform(in context: OperationContext) -> Int { 1 }
  }

  private struct Decided: OperationSequence {
    func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? { nil }
  }

  /// Returns a line for each node, with its name and the sources of its edges.
  private func lines(of operation: some ComposableOperation) -> [String] {
    let diagram = OperationDiagram(of: operation)
    return diagram.nodes.enumerated().map { index, node in
      let sources = diagram.edges.filter { $0.target == index }.map { "\($0.source)" }
      return
        "\(index) \(node.name.replacing("\n", with: ", ")) <- \(sources.joined(separator: " "))"
        + (node.isDecidedLater ? " later" : "")
    }
  }

  @Test func `G7: a composition is drawn before it runs, as far as it is known`() {
    let list = ParallelOperation(["a", "b"].map(Fetch.init)).named("all").retrying(attempts: 2)
    let pair = ParallelOperation(Fetch(name: "c"), Fetch(name: "d"))
    let steps = SequentialOperation(.linear([list, pair, SequentialOperation(Decided())]))
    #expect(
      lines(of: steps.named("Sync")) == [
        "0 Sync, in sequence <- ", "1 1. all, in parallel <- 0", "2 Fetch a <- 1",
        "3 Fetch b <- 1", "4 2. ParallelOperation, in parallel <- 0", "5 Fetch c <- 4",
        "6 Fetch d <- 4", "7 3. Decided, in sequence <- 0",
        "8 decided at run time <- 7 later",
      ])
    let chain = Fetch(name: "a").then { _ in Fetch(name: "b") }.map { "\($0)" }
    #expect(
      lines(of: chain) == [
        "0 Fetch a.then.map, in sequence <- ", "1 1. Fetch a.then, in sequence <- 0",
        "2 1. Fetch a <- 1", "3 decided at run time <- 1 later",
      ])
    #expect(lines(of: Fetch(name: "a").timingOut(after: .seconds(1))) == ["0 Fetch a <- "])
    let race = RaceOperation([Fetch(name: "a"), Fetch(name: "b")])
    #expect(lines(of: race).count == 3)
    let lazily = ParallelOperation { [Fetch(name: "a")] }
    #expect(lines(of: lazily).last == "1 decided at run time <- 0 later")
  }

  @Test func `G7: a graph within a composition keeps its edges`() {
    let graph = OperationGraph { graph in
      let a = graph.add(Fetch(name: "a"))
      let b = graph.add(Fetch(name: "b"))
      return graph.add(needing: a, b.outcome, named: "sum") { a, b in SimpleOperation { a } }
    }
    #expect(
      lines(of: ParallelOperation([graph])) == [
        "0 ParallelOperation, in parallel <- ",
        "1 OperationGraph, in dependency order <- 0", "2 Fetch a <- 1",
        "3 Fetch b <- 1", "4 sum <- 2 3",
      ])
  }

  @Test func `G7: a long or deep composition is drawn in part`() {
    let list = ParallelOperation((0..<250).map { Fetch(name: "\($0)") })
    let drawn = lines(of: list)
    #expect(drawn.count == 102 && drawn.last == "101 … and 150 more <- 0")
    var deep = AnyOperation(Fetch(name: "a").map { [$0] })
    for _ in 0..<10_000 { deep = AnyOperation(ParallelOperation([deep]).map { $0[0] }) }
    #expect(lines(of: deep).count < 200)
  }

  @Test func `G7: a trace is drawn with its times and outcomes`() async throws {
    let recorder = TraceRecorder()
    let children: [any ComposableOperation<Int>] = [
      Fetch(name: "a"), SimpleOperation { throw TestError("HTTP 500") }.named("b"),
      SimpleOperation { throw CancellationError() }.named("c"),
    ]
    let list = ParallelOperation(children, width: .serial, onFailure: .runAll).named("all")
    _ = await list.run(in: OperationEnvironment(observers: [recorder]))
    let diagram = recorder.trace.diagram
    #expect(diagram.nodes.map(\.state) == [.error, .result, .error, .cancelled])
    #expect(diagram.edges.map { [$0.source, $0.target] } == [[0, 1], [0, 2], [0, 3]])
    #expect(diagram.nodes[2].name.hasPrefix("b\n") && diagram.nodes[2].name.hasSuffix("HTTP 500"))
    #expect(diagram.mermaid.contains("  class n0,n2 error\n"))
    #expect(diagram.graphviz.contains("style=\"filled,dashed\""))
  }
}
