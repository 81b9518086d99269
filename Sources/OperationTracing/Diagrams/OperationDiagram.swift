/// A diagram of operations and their dependencies, as Mermaid, which many Markdown viewers render,
/// or in the language of Graphviz.
///
/// ```swift
/// let overview = OperationGraph { graph in
///   let user = graph.add(FetchUser())
///   return graph.add(needing: user) { FetchProfile($0) }
/// }
/// print(overview.diagram.mermaid)
/// ```
///
/// The same diagram always has the same text.
public struct OperationDiagram: Sendable, Equatable {
  /// An operation in a diagram.
  public struct Node: Sendable, Equatable {
    /// The text of the node.
    public let name: String
    /// Whether the result of this operation is the result of the whole.
    public let isOutput: Bool
    /// The state of the run; nil for an operation that has not run.
    public let state: State?
    /// Whether the node represents steps that are decided at run time.
    public let isDecidedLater: Bool

    init(
      name: String, isOutput: Bool = false, state: State? = nil, isDecidedLater: Bool = false
    ) {
      self.name = name
      self.isOutput = isOutput
      self.state = state
      self.isDecidedLater = isDecidedLater
    }
  }

  /// The state of a run.
  public enum State: Sendable, CaseIterable {
    case result, error, cancelled
    /// The run has not ended.
    case goesOn
  }

  /// A dependency between two operations.
  public struct Edge: Sendable, Equatable {
    /// The index of the node that is needed.
    public let source: Int
    /// The index of the node that needs it.
    public let target: Int
    /// Whether the target needs the outcome of the source, and so runs even if the source fails.
    public let asksForOutcome: Bool
  }

  /// The operations.
  public let nodes: [Node]
  /// The dependencies without duplicates, sorted by target.
  public let edges: [Edge]

  /// The diagram as a Mermaid flowchart, from top to bottom.
  ///
  /// Results are solid arrows, and outcomes are dotted ones. The node that gives the result of the
  /// whole has a double border. The states of runs differ by border, and by colors that people with
  /// color vision deficiencies can distinguish.
  public var mermaid: String {
    var lines = ["flowchart TD"]
    for (index, node) in nodes.enumerated() {
      let label = "\"\(node.name.escapedForMermaid)\""
      lines.append("  n\(index)" + (node.isOutput ? "[[\(label)]]" : "[\(label)]"))
    }
    for edge in edges {
      lines.append("  n\(edge.source) \(edge.asksForOutcome ? "-.->" : "-->") n\(edge.target)")
    }
    for state in State.allCases {
      lines += mermaidClass("\(state)", state.mermaid) { $0.state == state }
    }
    lines += mermaidClass("decidedLater", "stroke-dasharray:5 3,font-style:italic") {
      $0.isDecidedLater
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func mermaidClass(
    _ name: String, _ look: String, of isMember: (Node) -> Bool
  ) -> [String] {
    let members = nodes.indices.filter { isMember(nodes[$0]) }.map { "n\($0)" }
    if members.isEmpty { return [] }
    return ["  classDef \(name) \(look)", "  class \(members.joined(separator: ",")) \(name)"]
  }

  /// The diagram in the language of Graphviz, for its `dot`.
  ///
  /// Results are solid arrows, and outcomes are dashed ones. The node that gives the result of the
  /// whole has a double border. The states of runs differ as in ``mermaid``.
  public var graphviz: String {
    var lines = ["digraph {", "  node [shape=box]"]
    for (index, node) in nodes.enumerated() {
      let border = node.isOutput ? ", peripheries=2" : ""
      let look =
        node.state.map { ", " + $0.graphviz } ?? (node.isDecidedLater ? ", style=dashed" : "")
      lines.append("  n\(index) [label=\"\(node.name.escapedForGraphviz)\"\(border)\(look)]")
    }
    for edge in edges {
      let style = edge.asksForOutcome ? " [style=dashed]" : ""
      lines.append("  n\(edge.source) -> n\(edge.target)\(style)")
    }
    lines.append("}")
    return lines.map { $0 + "\n" }.joined()
  }
}

extension OperationDiagram.State {
  /// Lightened colors of the palette of Okabe and Ito (Color Universal Design, 2008).
  private var colours: (fill: String, border: String) {
    switch self {
    case .result: ("#d3efe6", "#009e73")
    case .error: ("#fbdcc8", "#d55e00")
    case .cancelled: ("#e8e8e8", "#6b6b6b")
    case .goesOn: ("#d6eaf8", "#0072b2")
    }
  }

  fileprivate var mermaid: String {
    let border =
      switch self {
      case .result: "stroke-width:1px"
      case .error: "stroke-width:3px"
      case .cancelled: "stroke-dasharray:5 3"
      case .goesOn: "stroke-dasharray:1 3"
      }
    return "fill:\(colours.fill),stroke:\(colours.border),color:#000,\(border)"
  }

  fileprivate var graphviz: String {
    let style =
      switch self {
      case .result: "filled"
      case .error: "filled,bold"
      case .cancelled: "filled,dashed"
      case .goesOn: "filled,dotted"
      }
    return "style=\"\(style)\", fillcolor=\"\(colours.fill)\", color=\"\(colours.border)\""
  }
}

extension String {
  /// The text, escaped for Mermaid, which interprets HTML, Markdown between backticks, `\n`, and
  /// the text between `#` and `;` as the name or the number of a character.
  fileprivate var escapedForMermaid: String {
    // Mermaid does not draw a box without a text.
    isEmpty
      ? " "
      : map { character in
        switch character {
        case "#": "#35;"
        case "\"": "#quot;"
        case "&": "#amp;"
        case "<": "#lt;"
        case ">": "#gt;"
        case "`": "#96;"
        case "\\": "#92;"
        case _ where character.isNewline: "<br>"
        default: String(character)
        }
      }.joined()
  }

  fileprivate var escapedForGraphviz: String {
    map { character in
      switch character {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "&": "&amp;"
      case _ where character.isNewline: "\\n"
      default: String(character)
      }
    }.joined()
  }
}
