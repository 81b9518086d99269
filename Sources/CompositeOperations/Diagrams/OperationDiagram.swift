/// Operations and who needs whom, for drawing: as Mermaid, which many viewers of Markdown show, or in
/// the language of Graphviz.
///
/// ```swift
/// let overview = OperationGraph { graph in
///   let user = graph.add(FetchUser())
///   return graph.add(needing: user) { FetchProfile($0) }
/// }
/// print(overview.diagram.mermaid)
/// ```
///
/// It is the same text every time.
public struct OperationDiagram: Sendable, Equatable {
  /// An operation.
  public struct Node: Sendable, Equatable {
    public let name: String
    /// Whether what it gives is what the whole gives.
    public let isOutput: Bool
    /// What has become of it; nil for one that has not run.
    public let state: State?
    /// Whether it stands for what is decided while the others run.
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

  /// What has become of an operation.
  public enum State: Sendable, CaseIterable {
    case result, error, cancelled
    /// It has not ended.
    case goesOn
  }

  /// A need of an operation.
  public struct Edge: Sendable, Equatable {
    /// The place among the nodes of the one that is needed.
    public let source: Int
    /// The place among the nodes of the one that needs it.
    public let target: Int
    /// Whether the target wants to know how the source ended, and runs in any case.
    public let asksForOutcome: Bool
  }

  public let nodes: [Node]
  /// Each once, those of an earlier target first.
  public let edges: [Edge]

  /// A flowchart in the language of Mermaid, from the top down. Results are solid arrows and outcomes
  /// dotted ones; what the whole gives has a double border. How those ended that have run shows
  /// by colours that the colour-blind can tell, and by borders.
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

  /// A graph in the language of Graphviz, for its `dot`. Results are solid arrows and outcomes dashed
  /// ones; what the whole gives has a double border. How those ended that have run shows as in ``mermaid``.
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
  /// After the palette of Okabe and Ito (Color Universal Design, 2008), lightened.
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
  /// Mermaid reads what stands between `#` and `;` as the name or the number of a character, and it
  /// reads HTML, Markdown between backticks, and `\n`.
  fileprivate var escapedForMermaid: String {
    // It does not draw a box without a text.
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
