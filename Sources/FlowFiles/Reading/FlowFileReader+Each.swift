internal import SystemSupport

extension FlowFileReader {
  mutating func each(_ field: FlowField, owner: String) -> FlowEach? {
    switch field.node.content {
    case .text: return pattern(field.node, field, unit: "pattern").map { .glob($0) }
    case .list(let nodes):
      let templates = nodes.compactMap { template($0, field) }
      checkDifferent(templates, field.label)
      return .list(templates)
    case .mapping: return source(field, owner: owner)
    case .nothing:
      report(field.node, expected: "a list, a pattern or a mapping", field.label)
      return nil
    }
  }

  /// Children with equal values would have equal names.
  private mutating func checkDifferent(_ templates: [FlowTemplate], _ label: String) {
    let texts = values.texts
    var seen: Set<ExactText> = []
    for template in templates {
      let text = template.text(texts)
      if !seen.insert(ExactText(text)).inserted {
        problems.report(template.location, "duplicate value \(text.quoted) in \(label)")
      }
    }
  }

  private mutating func source(_ field: FlowField, owner: String) -> FlowEach? {
    let end = " in \(field.label)"
    let entries = entries(of: field.node, label: field.label, unit: "key", end: end) ?? []
    var each: FlowEach?
    for entry in entries {
      guard let source = FlowEachKey(rawValue: entry.key) else {
        let nearest = problems.nearest(entry.key, FlowEachKey.allCases.map(\.rawValue))
        problems.report(
          entry.location,
          "unknown key \(entry.key.quoted)\(end); "
            + "expected \(nearest.map { "'\($0)'" } ?? FlowEachKey.names)")
        continue
      }
      let label = "\(source.rawValue) of \(owner.quoted)"
      if each != nil {
        problems.report(
          entry.location, "second source of values in \(field.label); expected one")
      }
      if source == .matrix {
        each = .matrix(matrix(entry.value, field, label))
        continue
      }
      guard let name = text(entry.value, label) else { continue }
      let reference = FlowReference(name: name, location: entry.value.location)
      switch source {
      case .linesOf: each = .linesOf(reference)
      case .sameAs: each = .sameAs(reference)
      case .rowsOf where stepNames.contains(name): each = .rowsOf(reference)
      case .rowsOf, .matrix:
        each = .rowsOfFile(
          template(name, entry.value.location, field, unit: "path", label: label))
      }
    }
    if entries.isEmpty, case .mapping = field.node.content {
      problems.report(
        field.node.location, "\(field.label) is empty; expected \(FlowEachKey.names)")
    }
    return each
  }

  private mutating func matrix(
    _ node: FlowNode, _ field: FlowField, _ label: String
  ) -> [FlowColumn] {
    let entries = entries(of: node, label: label, unit: "column", end: " in \(label)") ?? []
    if entries.isEmpty, case .mapping = node.content {
      problems.report(node.location, "\(label) is empty; expected a column with a list of values")
    }
    let columns = entries.map { entry in
      if !entry.key.isValueName {
        problems.report(
          entry.location,
          "invalid column name \(entry.key.quoted) in \(label); expected letters, digits and '_', "
            + "and no digit at the start")
      }
      let column = "column \(entry.key.quoted) in \(label)"
      var templates: [FlowTemplate] = []
      if case .list(let nodes) = entry.value.content {
        templates = nodes.compactMap { template($0, field, label: column) }
        checkDifferent(templates, column)
      } else {
        report(entry.value, expected: "a list", column)
      }
      return FlowColumn(name: entry.key, values: templates)
    }
    if let count = FlowEach.matrix(columns).knownCount, count > FlowRowReader.mostRows {
      problems.report(
        node.location,
        "\(label) has more than \(FlowRowReader.mostRows.grouped) combinations")
    }
    return columns
  }
}

/// The keys of `each` as a mapping.
enum FlowEachKey: String, CaseIterable {
  case linesOf = "lines-of"
  case sameAs = "same-as"
  case matrix
  case rowsOf = "rows-of"

  static var names: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }

  var summary: String {
    switch self {
    case .linesOf: "The step whose lines of output are the values."
    case .sameAs:
      "The step with the same values. A child begins when the child of that step has succeeded."
    case .matrix: "Lists by the name of a column. Each combination is a child."
    case .rowsOf:
      "A file, or a step whose output is read: CSV with a header, or JSON objects. Each row "
        + "is a child."
    }
  }
}
