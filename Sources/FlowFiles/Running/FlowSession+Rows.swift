import SystemSupport

extension FlowFolder {
  /// Returns the values of the children of a step with the rows of a file, which is relative to the
  /// folder of the flow file.
  func rows(
    of file: FlowTemplate, _ step: FlowStep, _ values: [String: String]
  ) throws(FlowFailure) -> [String] {
    let name = file.text(values)
    return try FlowRowReader.values(ofFile: path(of: name, in: nil), named: name)
  }
}

extension FlowSession {
  /// Checks the rows of a step before its children begin.
  ///
  /// - Throws: A failure for a column that a row does not have, and for an output of two children.
  func checkRows(_ step: FlowStep, _ values: [String]) throws(FlowFailure) {
    guard file.hasColumns(step) else { return }
    let used = step.templates.flatMap(\.columns)
    for value in values {
      let row = FlowRow(value: value)
      for column in used where row[column] == nil {
        let names = row.columns.map(\.name.quoted).joined(separator: ", ")
        throw .lines(
          "'\(step.name)[\(value.onOneLine)]' has no column \(column.quoted); it has \(names)")
      }
    }
    var paths = FlowPaths(in: folder.path)
    for output in step.outputs {
      var owners: [FlowPath: String] = [:]
      for value in values {
        let directory = FlowUnit(step: step, each: value).directory(checker.values)
        for pattern in GlobPattern.patterns(output, checker.values, each: value) {
          let path = paths.output(pattern, in: directory)
          guard let owner = owners.updateValue(value, forKey: path) else { continue }
          let text = output.text(checker.values, each: value).normalizedPath.quoted
          throw .lines(
            "'[\(owner.onOneLine)]' and '[\(value.onOneLine)]' have the same output \(text)")
        }
      }
    }
  }
}
