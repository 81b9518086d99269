extension FlowFileReader {
  /// Returns the text of a field; nil for a value of another kind, which is reported.
  mutating func text(_ field: FlowField) -> String? {
    text(field.node, field.label)
  }

  mutating func text(_ node: FlowNode, _ label: String) -> String? {
    guard case .text(let text) = node.content else {
      report(node, expected: "a text", label)
      return nil
    }
    checkCharacters(text, node.location, label)
    return text
  }

  /// Returns a text; nil for nothing, and for a value of another kind, which is reported.
  mutating func optionalText(_ node: FlowNode, _ label: String) -> String? {
    if case .nothing = node.content { return nil }
    return text(node, label)
  }

  /// The nodes of a field that is a list or a single text.
  mutating func elements(_ field: FlowField) -> [FlowNode] {
    switch field.node.content {
    case .text: return [field.node]
    case .list(let nodes): return nodes
    case .nothing, .mapping:
      report(field.node, expected: "a text or a list", field.label)
      return []
    }
  }

  private mutating func checkCharacters(
    _ text: String, _ location: FlowLocation, _ label: String
  ) {
    if text.utf8.contains(0) {
      problems.report(location, "U+0000 in \(label); no command or file name can contain it")
    }
  }

  // MARK: - Templates

  mutating func template(_ field: FlowField, unit: String) -> FlowTemplate? {
    template(field.node, field, unit: unit)
  }

  /// Reads a text with values.
  ///
  /// - Parameters:
  ///   - node: The text, which is the field or a part of it.
  ///   - unit: The word for a text that must not be empty; nil for a text that may be empty.
  mutating func template(
    _ node: FlowNode, _ field: FlowField, unit: String? = nil, label: String? = nil
  ) -> FlowTemplate? {
    let label = label ?? field.label
    guard let text = text(node, label) else { return nil }
    return template(text, node.location, field, unit: unit, label: label)
  }

  mutating func template(
    _ text: String, _ location: FlowLocation, _ field: FlowField, unit: String?, label: String
  ) -> FlowTemplate {
    let template = FlowTemplate(parsing: text, at: location) { message in
      problems.report(location, message)
    }
    for name in template.names where !valueNames.contains(name) {
      let question = problems.question(name, values.lazy.map(\.name))
      problems.report(
        location,
        "unknown value \(name.quoted) in \(label); \(question ?? "declare it in values")")
    }
    if let part = template.eachPart, let advice = field.eachAdvice {
      problems.report(
        location, "'\(part.text([:], each: nil))' in \(label) is not available; \(advice)")
    }
    if let unit, text.isEmpty { problems.report(location, "the \(unit) in \(label) is empty") }
    return template
  }

  /// Reads a path or a pattern.
  mutating func pattern(_ node: FlowNode, _ field: FlowField, unit: String) -> FlowTemplate? {
    guard let template = template(node, field, unit: unit) else { return nil }
    if let problem = template.patternProblem { problems.report(node.location, problem) }
    return template
  }

  mutating func patterns(_ field: FlowField) -> [FlowTemplate] {
    elements(field).compactMap { pattern($0, field, unit: "path") }
  }

  // MARK: - Environment

  mutating func variables(_ field: FlowField) -> [FlowVariable] {
    let end = " in \(field.label)"
    let entries = entries(of: field.node, label: field.label, unit: "variable", end: end) ?? []
    return entries.map { entry in
      checkVariableName(entry.key, entry.location, field)
      let label = "variable \(entry.key.quoted) in \(field.label)"
      let text = optionalText(entry.value, label) ?? ""
      let template = template(text, entry.value.location, field, unit: nil, label: label)
      return FlowVariable(name: entry.key, text: template, location: entry.location)
    }
  }

  private mutating func checkVariableName(
    _ name: String, _ location: FlowLocation, _ field: FlowField
  ) {
    if name.isEmpty || name.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == 0 }) {
      problems.report(
        location,
        "invalid variable name \(name.quoted) in \(field.label); expected a text without '='")
    } else if name == "each" || valueNames.contains(name) {
      problems.report(
        location,
        name == "each"
          ? "the variable 'each' in \(field.label) is reserved for the children of a step"
          : "the variable \(name.quoted) in \(field.label) is also a value; rename one of them")
    }
  }
}
