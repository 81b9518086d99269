extension FlowFileReader {
  /// Reads `run`: a text, a list of texts, or a list of lists.
  mutating func commands(_ field: FlowField) -> [FlowCommand] {
    guard case .list(let nodes) = field.node.content else {
      return shell(field, expected: "a text or a list").map { [$0] } ?? []
    }
    let lists = nodes.filter { if case .list = $0.content { true } else { false } }
    if lists.isEmpty { return [.program(words(nodes, field.node, field))] }
    return nodes.compactMap { node in
      guard case .list(let words) = node.content else {
        report(node, expected: "a list like the others", field.label)
        return nil
      }
      return .program(self.words(words, node, field))
    }
  }

  /// Reads `shell`: a list of texts.
  mutating func shell(_ field: FlowField) -> [FlowTemplate]? {
    guard case .list(let nodes) = field.node.content else {
      report(field.node, expected: "a list", field.label)
      return nil
    }
    return words(nodes, field.node, field)
  }

  /// Reads `only-if`: a text or a list of texts.
  mutating func condition(_ field: FlowField) -> FlowCommand? {
    guard case .list(let nodes) = field.node.content else {
      return shell(field, expected: "a text or a list")
    }
    return .program(words(nodes, field.node, field))
  }

  private mutating func shell(_ field: FlowField, expected: String) -> FlowCommand? {
    guard case .text = field.node.content else {
      report(field.node, expected: expected, field.label)
      return nil
    }
    guard let text = text(field) else { return nil }
    if text.allSatisfy(\.isWhitespace) {
      problems.report(field.node.location, "the command in \(field.label) is empty")
    }
    return .shell(text)
  }

  private mutating func words(
    _ nodes: [FlowNode], _ node: FlowNode, _ field: FlowField
  ) -> [FlowTemplate] {
    if nodes.isEmpty {
      problems.report(node.location, "the command in \(field.label) is empty")
    }
    var templates: [FlowTemplate] = []
    for (index, word) in nodes.enumerated() {
      let unit = index == 0 ? "name of the program" : nil
      if let template = template(word, field, unit: unit) { templates.append(template) }
    }
    return templates
  }
}
