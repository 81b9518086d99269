import SystemSupport

extension FlowSession {
  /// Returns what the process of a command needs.
  ///
  /// - Parameters:
  ///   - basis: See ``FlowLaunch/basis``.
  ///   - outputLimit: See ``FlowLaunch/outputLimit``.
  func launch(
    _ command: FlowCommand, of unit: FlowUnit, basis: String, outputLimit: Int? = nil
  ) -> FlowLaunch {
    let values = checker.values
    let directory = folder.workingFolder(unit.directory(values))
    var variables = file.variables
    var words: [String]
    switch command {
    case .program(let templates): words = templates.map { $0.text(values, each: unit.each) }
    case .shell(let text):
      words = unit.step.shell.map { $0.text(values, each: unit.each) } + [text]
      // No value becomes a part of the text.
      variables.merge(values) { $1 }
      if let each = unit.each {
        if file.hasColumns(unit.step) {
          for (name, text) in FlowRow(value: each).columns where "each_\(name)".isValueName {
            variables["each_\(name)"] = text
          }
        } else {
          variables["each"] = each
        }
      }
    }
    for variable in unit.step.environment {
      variables[variable.name] = variable.text.text(values, each: unit.each)
    }
    let input = unit.step.standardInput.map { file in
      let path = file.text(values, each: unit.each)
      return path.hasPrefix("/") ? path : directory.path(of: path)
    }
    return FlowLaunch(
      program: words.first ?? "", arguments: Array(words.dropFirst()), directory: directory,
      variables: variables, standardInput: input, outputLimit: outputLimit, basis: basis)
  }
}
