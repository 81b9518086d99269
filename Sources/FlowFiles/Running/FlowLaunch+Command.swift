import SystemSupport

extension FlowLaunch {
  /// What the process of a command needs.
  ///
  /// - Parameters:
  ///   - unit: The step or the child; nil for a command of `on`.
  ///   - values: The values of the flow.
  ///   - basis: See ``basis``.
  ///   - outputLimit: See ``outputLimit``.
  init(
    _ command: FlowCommand, of unit: FlowUnit?, _ file: FlowFile, _ values: [String: String],
    in folder: FlowFolder, basis: String = "", outputLimit: Int? = nil
  ) {
    let (step, each) = (unit?.step, unit?.each)
    let directory = folder.workingFolder(unit?.directory(values))
    var variables = file.variables
    let words: [String]
    switch command {
    case .program(let templates): words = templates.map { $0.text(values, each: each) }
    case .shell(let text):
      words = (step?.shell ?? file.shell).map { $0.text(values, each: each) } + [text]
      // No value becomes a part of the text.
      variables.merge(values) { $1 }
      if let step, let each {
        if file.hasColumns(step) {
          for (name, text) in FlowRow(value: each).columns where "each_\(name)".isValueName {
            variables["each_\(name)"] = text
          }
        } else {
          variables["each"] = each
        }
      }
    }
    for variable in step?.environment ?? file.environment {
      variables[variable.name] = variable.text.text(values, each: each)
    }
    let input = step?.standardInput.map { file in
      let path = file.text(values, each: each)
      return path.hasPrefix("/") ? path : directory.path(of: path)
    }
    self.init(
      program: words.first ?? "", arguments: Array(words.dropFirst()), directory: directory,
      variables: variables, standardInput: input, outputLimit: outputLimit, basis: basis)
  }
}
