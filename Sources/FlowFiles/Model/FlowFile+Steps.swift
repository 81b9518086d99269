internal import SystemSupport

extension FlowFile {
  /// The step with a name; nil if there is none.
  package func step(named name: String) -> FlowStep? { indices[name].map { steps[$0] } }

  /// The names of the steps that depend directly on each step, in the order of the file. Steps
  /// without dependents are missing.
  package var dependents: [String: [String]] {
    var dependents: [String: [String]] = [:]
    for step in steps {
      for name in step.dependencies { dependents[name, default: []].append(step.name) }
    }
    return dependents
  }

  /// Returns the name of a step and the names of all steps that depend on it, directly or indirectly.
  ///
  /// - Throws: A problem that names a similar step, if there is no such step.
  package func steps(from name: String) throws(FlowFileError) -> Set<String> {
    try checkStep(name)
    let dependents = dependents
    var names: Set = [name]
    var pending = [name]
    while let next = pending.popLast() {
      for dependent in dependents[next, default: []] where names.insert(dependent).inserted {
        pending.append(dependent)
      }
    }
    return names
  }

  /// The names of the steps that must have ended before a step begins.
  package func beginningDependencies(of step: FlowStep) -> (needs: [String], after: [String]) {
    var needs: [String] = []
    var after: [String] = []
    var next: FlowStep? = step
    while let step = next {
      next = nil
      needs += step.needs.map(\.name)
      after += step.after.map(\.name)
      switch step.each {
      case .linesOf(let source), .rowsOf(let source): needs.append(source.name)
      case .sameAs(let source): next = self.step(named: source.name)
      case nil, .list, .glob, .matrix, .rowsOfFile: break
      }
    }
    var seen: Set<String> = []
    needs = needs.filter { seen.insert($0).inserted }
    return (needs, after.filter { seen.insert($0).inserted })
  }

  /// - Throws: A problem that names a similar step, if there is no step with the name.
  package func checkStep(_ name: String) throws(FlowFileError) {
    if indices[name] != nil { return }
    var problems = FlowProblems()
    let question = problems.question(name, steps.map(\.name))
    problems.report(nil, ["unknown step \(name.quoted)", question].joined)
    if let error = problems.error(path: path) { throw error }
  }
}

extension FlowFile {
  /// The texts of the values, by name. Values without a text are missing.
  package var texts: [String: String] { values.texts }

  /// Returns the file with other texts for some values. A run needs this even without other texts,
  /// because it checks that every value has one.
  ///
  /// - Throws: Problems for unknown names, for values that have no text, and for outputs that are the
  ///   same with these texts.
  package func setting(_ texts: [String: String]) throws(FlowFileError) -> FlowFile {
    try setting(texts, hasCheckedOutputs: false)
  }

  /// - Parameter hasCheckedOutputs: Whether the outputs were already compared with these texts.
  func setting(
    _ texts: [String: String], hasCheckedOutputs: Bool
  ) throws(FlowFileError) -> FlowFile {
    var problems = FlowProblems()
    let names = Set(values.map(\.name))
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      if !names.contains(name) {
        let question = problems.question(name, values.map(\.name))
        let advice = values.isEmpty ? "the file has no values" : nil
        problems.report(nil, ["unknown value \(name.quoted)", question ?? advice].joined)
      } else if text.utf8.contains(0) {
        problems.report(nil, "the value \(name.quoted) contains U+0000, which no command can have")
      }
    }
    var file = self
    file.values = values.setting(texts)
    file.values.reportMissing(&problems)
    file.values.reportTooLong(&problems)
    if !hasCheckedOutputs {
      let folder = FlowFolder.path(ofFile: path)
      file.steps.checkOutputs(file.texts, in: folder, &problems)
      file.steps.checkInputs(file.texts, in: folder, order: order, &problems)
    }
    if let error = problems.error(path: path) { throw error }
    return file
  }
}

extension [FlowValue] {
  /// The values with other texts for some names.
  func setting(_ texts: [String: String]) -> [FlowValue] {
    map { value in
      guard let text = texts[value.name] else { return value }
      return FlowValue(
        name: value.name, text: FlowTemplate(text, at: value.location), location: value.location)
    }
  }

  /// Reports the values without a text.
  func reportMissing(_ problems: inout FlowProblems) {
    for value in self where value.text == nil {
      problems.report(
        value.location,
        "missing value \(value.name.quoted); set it with --set \(value.name)=text, "
          + "or give it a default")
    }
  }

  /// Reports the values whose text would be too long.
  func reportTooLong(_ problems: inout FlowProblems) {
    let texts = texts
    for value in self where value.text != nil && texts[value.name] == nil {
      problems.report(
        value.location,
        "the value \(value.name.quoted) is too long with the values that it uses; the limit is "
          + "\(FlowLimits.valueBytes.grouped) bytes")
    }
  }

  /// The texts by name. Values without a text are missing, and those whose text would be too long: a
  /// few values can use each other so that the last one has more bytes than there is memory.
  var texts: [String: String] {
    var texts: [String: String] = [:]
    for value in self {
      guard let text = value.text else { continue }
      let size = text.names.isEmpty ? 0 : text.size(texts)
      if size <= FlowLimits.valueBytes { texts[value.name] = text.text(texts) }
    }
    return texts
  }
}

extension [String?] {
  /// The parts of a message, separated by semicolons.
  var joined: String { compactMap(\.self).joined(separator: "; ") }
}
