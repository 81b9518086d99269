internal import SystemSupport

extension OperationTrace {
  /// A diagram of the runs: a node for each run with its duration and outcome, and an arrow from
  /// each parent to its children.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// print(recorder.trace.diagram.mermaid)
  /// ```
  ///
  /// Suitable for up to some hundreds of runs; a timeline shows more.
  public var diagram: OperationDiagram {
    let places = Dictionary(
      spans.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first }
    )
    var edges: [OperationDiagram.Edge] = []
    for (place, span) in spans.enumerated() {
      guard let source = span.parent.flatMap({ places[$0] }) else { continue }
      edges.append(OperationDiagram.Edge(source: source, target: place, asksForOutcome: false))
    }
    return OperationDiagram(nodes: spans.map(\.node), edges: edges)
  }
}

extension OperationTrace.Span {
  fileprivate var node: OperationDiagram.Node {
    var lines = [attempt > 1 ? "\(name) (attempt \(attempt))" : name]
    if let duration { lines.append(duration.readable) }
    if case .error(let text) = end { lines.append(text.clippedLine(to: 80)) }
    return OperationDiagram.Node(name: lines.joined(separator: "\n"), state: state)
  }

  private var state: OperationDiagram.State {
    switch end {
    case .result: .result
    case .error: .error
    case .cancelled: .cancelled
    case nil: .goesOn
    }
  }
}
