extension FlowFileReader {
  /// Reads `run`: a text, a list of texts, or a list of lists.
  mutating func commands(_ field: FlowField) -> [FlowCommand] {
    guard case .list(let nodes) = field.node.content else {
      return shell(field, expected: "a text or a list").map { [$0] } ?? []
    }
    let lists = nodes.filter { if case .list = $0.content { true } else { false } }
    if lists.isEmpty { return [program(nodes, field.node, field)] }
    return nodes.compactMap { node in
      guard case .list(let words) = node.content else {
        report(node, expected: "a list like the others", field.label)
        return nil
      }
      return program(words, node, field)
    }
  }

  /// Reads `only-if`: a text or a list of texts.
  mutating func condition(_ field: FlowField) -> FlowCommand? {
    guard case .list(let nodes) = field.node.content else {
      return shell(field, expected: "a text or a list")
    }
    return program(nodes, field.node, field)
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

  private mutating func program(
    _ words: [FlowNode], _ node: FlowNode, _ field: FlowField
  ) -> FlowCommand {
    if words.isEmpty {
      problems.report(node.location, "the command in \(field.label) is empty")
    }
    var templates: [FlowTemplate] = []
    for (index, word) in words.enumerated() {
      let unit = index == 0 ? "name of the program" : nil
      if let template = template(word, field, unit: unit) { templates.append(template) }
    }
    return .program(templates)
  }

  // MARK: - Each

  mutating func each(_ field: FlowField, owner: String) -> FlowEach? {
    switch field.node.content {
    case .text: return pattern(field.node, field, unit: "pattern").map { .glob($0) }
    case .list(let nodes):
      let templates = nodes.compactMap { template($0, field) }
      checkDifferent(templates, field)
      return .list(templates)
    case .mapping: return otherStep(field, owner: owner)
    case .nothing:
      report(field.node, expected: "a list, a pattern, lines-of or same-as", field.label)
      return nil
    }
  }

  /// Children with equal values would have equal names.
  private mutating func checkDifferent(_ templates: [FlowTemplate], _ field: FlowField) {
    let texts = values.texts
    var seen: Set<ExactText> = []
    for template in templates {
      let text = template.text(texts)
      if !seen.insert(ExactText(text)).inserted {
        problems.report(template.location, "duplicate value \(text.quoted) in \(field.label)")
      }
    }
  }

  private mutating func otherStep(_ field: FlowField, owner: String) -> FlowEach? {
    let end = " in \(field.label)"
    let entries = entries(of: field.node, label: field.label, unit: "key", end: end) ?? []
    var each: FlowEach?
    for entry in entries {
      guard let source = FlowEachKey(rawValue: entry.key) else {
        let names = FlowEachKey.allCases.map(\.rawValue)
        let nearest = problems.nearest(entry.key, names).map { "'\($0)'" }
        problems.report(
          entry.location,
          "unknown key \(entry.key.quoted)\(end); "
            + "expected \(nearest ?? "'lines-of' or 'same-as'")")
        continue
      }
      guard let name = text(entry.value, "\(source.rawValue) of \(owner.quoted)") else { continue }
      if each != nil {
        problems.report(
          entry.location, "second source of values in \(field.label); expected one")
      }
      let reference = FlowReference(name: name, location: entry.value.location)
      switch source {
      case .linesOf: each = .linesOf(reference)
      case .sameAs: each = .sameAs(reference)
      }
    }
    if entries.isEmpty, case .mapping = field.node.content {
      problems.report(
        field.node.location, "\(field.label) is empty; expected 'lines-of' or 'same-as'")
    }
    return each
  }
}

/// The keys of `each` as a mapping.
enum FlowEachKey: String, CaseIterable {
  case linesOf = "lines-of"
  case sameAs = "same-as"

  var summary: String {
    switch self {
    case .linesOf: "The step whose lines of output are the values."
    case .sameAs:
      "The step with the same values. A child begins when the child of that step has succeeded."
    }
  }
}
