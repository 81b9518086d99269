import CompositeOperations
import OperationTracing
import Testing

@Suite struct DiagramTests {
  /// A graph of three nodes with two outputs. The third node needs the other two, and one of them
  /// twice, for its outcome.
  private static let graph = OperationGraph { graph in
    let one = graph.add(SimpleOperation { 1 }.named("one"))
    let two = graph.add(needing: one, named: "two") { one in SimpleOperation { one + 1 } }
    let all = graph.add(needing: one.outcome, two, one.outcome, named: "all") { one, two, again in
      SimpleOperation { two + (one.result ?? 0) + (again.result ?? 0) }
    }
    return (two, all)
  }

  @Test func `G7: a graph is drawn before it runs, as Mermaid`() {
    #expect(
      Self.graph.diagram.mermaid == """
        flowchart TD
          n0["one"]
          n1[["two"]]
          n2[["all"]]
          n0 --> n1
          n0 -.-> n2
          n1 --> n2

        """)
  }

  @Test func `G7: a graph is drawn before it runs, for Graphviz`() {
    #expect(
      Self.graph.diagram.graphviz == """
        digraph {
          node [shape=box]
          n0 [label="one"]
          n1 [label="two", peripheries=2]
          n2 [label="all", peripheries=2]
          n0 -> n1
          n0 -> n2 [style=dashed]
          n1 -> n2
        }

        """)
  }

  @Test func `G7: a node with any name is drawn as one node`() {
    let name = "say \"<b>#1; `x` & \\n</b>\"\nagain"
    let graph = OperationGraph { graph in graph.add(SimpleOperation {}.named(name)) }
    #expect(
      graph.diagram.mermaid == """
        flowchart TD
          n0[["say #quot;#lt;b#gt;#35;1; #96;x#96; #amp; #92;n#lt;/b#gt;#quot;<br>again"]]

        """)
    #expect(
      graph.diagram.graphviz == """
        digraph {
          node [shape=box]
          n0 [label="say \\"<b>#1; `x` &amp; \\\\n</b>\\"\\nagain", peripheries=2]
        }

        """)
    let nameless = OperationGraph { graph in graph.add(SimpleOperation {}.named("")) }
    #expect(nameless.diagram.mermaid == "flowchart TD\n  n0[[\" \"]]\n")
    let empty = OperationGraph(giving: Void.self) { _ in }
    #expect(empty.diagram.mermaid == "flowchart TD\n")
    #expect(empty.diagram.edges.isEmpty && empty.diagram.nodes.isEmpty)
  }
}
