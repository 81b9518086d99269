extension FlowFileReader {
  /// Checks the references between steps.
  ///
  /// - Returns: The indices of the steps, each after its dependencies.
  mutating func checkReferences(_ steps: [FlowStep]) -> [Int] {
    let indices = steps.indicesByName
    let sources = steps.eachSources
    var outputReaders: [String: FlowReferenceKind] = [:]
    var edges: [[FlowEdge]] = []
    for step in steps {
      edges.append(
        step.kindsOfReferences.compactMap { kind, reference in
          guard let target = target(of: reference, kind, step, indices, steps) else { return nil }
          return FlowEdge(target: target, phrase: kind.phrase)
        })
      checkDuplicates(step)
      checkColumns(step, source: sources[step.name], indices, steps)
      for (kind, reference) in step.kindsOfReferences where kind == .linesOf || kind == .rowsOf {
        let first = outputReaders[reference.name, default: kind]
        outputReaders[reference.name] = first
        if first != kind {
          problems.report(
            reference.location,
            "step \(reference.name.quoted) is in \(first.rawValue) and in \(kind.rawValue); "
              + "expected one of them")
        }
      }
      if let source = step.each?.reference.flatMap({ indices[$0.name] }) {
        check(step, source: steps[source])
      }
    }
    let components = FlowComponents(edges)
    for cycle in components.cycles { report(cycle, steps, edges) }
    return components.order
  }

  /// - Returns: The index of another step; nil for a wrong reference, which is reported.
  private mutating func target(
    of reference: FlowReference, _ kind: FlowReferenceKind, _ step: FlowStep,
    _ indices: [String: Int], _ steps: [FlowStep]
  ) -> Int? {
    guard let target = indices[reference.name] else {
      let question = problems.question(reference.name, steps.lazy.map(\.name))
      problems.report(
        reference.location,
        [
          "unknown step \(reference.name.quoted) in \(kind.rawValue) of \(step.name.quoted)",
          question,
        ].joined)
      return nil
    }
    if reference.name == step.name {
      problems.report(reference.location, "step \(step.name.quoted) \(kind.phrase) itself")
      return nil
    }
    return target
  }

  private mutating func checkDuplicates(_ step: FlowStep) {
    var kinds: [String: FlowReferenceKind] = [:]
    for (kind, reference) in step.kindsOfReferences {
      let first = kinds[reference.name]
      if first == nil { kinds[reference.name] = kind }
      switch (first, kind) {
      case (.needs?, .needs), (.after?, .after):
        problems.report(
          reference.location,
          "duplicate step \(reference.name.quoted) in \(kind.rawValue) of \(step.name.quoted)")
      case (let first?, .after):
        problems.report(
          reference.location,
          "step \(reference.name.quoted) is in both \(first.rawValue) and after of "
            + "\(step.name.quoted); \(first.rawValue) is enough")
      case (nil, _), (_?, .needs), (_?, .linesOf), (_?, .rowsOf), (_?, .sameAs): continue
      }
    }
  }

  /// Checks the columns that a step uses, as far as the file has their names.
  ///
  /// - Parameter source: The step that provides the values of `same-as`.
  private mutating func checkColumns(
    _ step: FlowStep, source: String?, _ indices: [String: Int], _ steps: [FlowStep]
  ) {
    let each = source.flatMap { indices[$0] }.flatMap { steps[$0].each } ?? step.each
    guard let each, let hasColumns = each.hasColumns else { return }
    var columns: [String]?
    if case .matrix(let all) = each { columns = all.map(\.name) }
    for template in step.templates {
      guard let part = template.eachPart else { continue }
      if hasColumns, template.parts.contains(.each) {
        problems.report(
          template.location,
          "'${each}' in step \(step.name.quoted) is not available; "
            + "write '${each.NAME}' for a column"
        )
      } else if !hasColumns, !template.columns.isEmpty {
        problems.report(
          template.location,
          "'\(part.text([:], each: nil))' in step \(step.name.quoted) is not available; "
            + "the children have no columns, so write '${each}'")
      }
      for name in template.columns {
        guard let columns, !columns.contains(name) else { continue }
        problems.report(
          template.location,
          "unknown column \(name.quoted) in step \(step.name.quoted); "
            + "expected one of \(columns.joined(separator: ", "))")
      }
    }
  }

  /// Checks the step that provides the values of another one.
  private mutating func check(_ step: FlowStep, source: FlowStep) {
    guard let each = step.each, let reference = each.reference, source.name != step.name else {
      return
    }
    switch each {
    case .linesOf where source.each != nil, .rowsOf where source.each != nil:
      let kind: FlowReferenceKind = if case .rowsOf = each { .rowsOf } else { .linesOf }
      problems.report(
        reference.location,
        "\(kind.rawValue) of \(step.name.quoted) needs a step without 'each', "
          + "and \(source.name.quoted) has 'each'")
    case .linesOf where source.isInteractive, .rowsOf where source.isInteractive:
      problems.report(
        reference.location,
        "each of \(step.name.quoted) reads the output of \(source.name.quoted), "
          + "which is interactive and writes to the terminal")
    case .sameAs where source.each == nil:
      problems.report(
        reference.location,
        "same-as of \(step.name.quoted) needs a step with 'each', "
          + "and \(source.name.quoted) has no 'each'")
    case .list, .glob, .linesOf, .matrix, .rowsOf, .rowsOfFile, .sameAs: return
    }
  }

  private mutating func report(_ cycle: [Int], _ steps: [FlowStep], _ edges: [[FlowEdge]]) {
    let first = cycle[0]
    let members = zip(cycle, cycle.dropFirst() + [first]).map { index, next in
      let phrase = edges[index].first { $0.target == next }?.phrase ?? ""
      return "\(phrase) \(steps[next].name.quoted)"
    }
    problems.report(
      steps[first].location,
      "cycle: \(steps[first].name.quoted) \(members.joined(separator: ", which "))")
  }
}

extension [FlowStep] {
  var indicesByName: [String: Int] {
    Dictionary(enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

/// A dependency of a step on another one.
struct FlowEdge {
  let target: Int
  /// The verb for messages.
  let phrase: String
}

/// The fields that name other steps.
private enum FlowReferenceKind: String {
  case needs, after
  case linesOf = "lines-of"
  case rowsOf = "rows-of"
  case sameAs = "same-as"

  var phrase: String {
    switch self {
    case .needs, .linesOf, .rowsOf, .sameAs: "needs"
    case .after: "runs after"
    }
  }
}

extension FlowStep {
  fileprivate var kindsOfReferences: [(FlowReferenceKind, FlowReference)] {
    var all: [(FlowReferenceKind, FlowReference)] = []
    switch each {
    case nil, .list, .glob, .matrix, .rowsOfFile: break
    case .linesOf(let reference): all.append((.linesOf, reference))
    case .rowsOf(let reference): all.append((.rowsOf, reference))
    case .sameAs(let reference): all.append((.sameAs, reference))
    }
    all += needs.map { (.needs, $0) }
    all += after.map { (.after, $0) }
    return all
  }
}
