import SystemSupport

extension FlowPlan {
  /// Checks the files that the steps which can run read: a path must exist, or be an output of a step.
  ///
  /// Inputs of children whose values are not known are checked when they begin.
  ///
  /// - Throws: All problems.
  func checkInputs(_ checker: FlowChecker) throws(FlowFileError) {
    var problems = FlowProblems()
    checker.file.checkInputs(in: checker.folder, &problems) { step in
      decisions[step.name]?.isSettled == false ? step.units(children[step.name]) : []
    }
    if let error = problems.error(path: checker.file.path) { throw error }
  }
}

extension FlowFile {
  /// Reports files that do not exist and that no step makes.
  ///
  /// - Parameter units: Returns the units of a step that read files.
  func checkInputs(
    in folder: FlowFolder, _ problems: inout FlowProblems, of units: (FlowStep) -> [FlowUnit]
  ) {
    let values = texts
    var outputs: FlowOutputIndex?
    for step in steps {
      for unit in units(step) {
        let directory = unit.directory(values)
        let tree = FileTree(folder.workingFolder(directory))
        for input in step.readFiles {
          let patterns = GlobPattern.patterns(
            input.text, values, each: unit.each, isPath: input.isPath)
          for pattern in patterns {
            guard let path = pattern.path else { continue }
            do {
              if try tree.status(of: Array(path.utf8)) != nil { continue }
            } catch {
              problems.report(
                input.text.location, "\(input.key) of step \(step.name.quoted): \(error)")
              continue
            }
            var index =
              outputs
              ?? FlowOutputIndex(steps, values, in: folder.path, isLenient: true)
            outputs = nil
            let makers = index.steps(making: pattern, in: directory)
            if makers.isEmpty, !index.isExhausted {
              let question = problems.question(path, in: tree)
              problems.report(
                input.text.location,
                [
                  "\(input.key) \(path.quoted) of step \(step.name.quoted) does not exist, "
                    + "and no step makes it", question,
                ].joined)
            }
            outputs = index
          }
        }
      }
    }
  }
}

extension FlowProblems {
  /// Returns the name in the folder of a missing file that is most similar, as a question.
  fileprivate mutating func question(_ path: String, in tree: FileTree) -> String? {
    let (folder, name) = path.splitPath
    let entries = (try? tree.entries(of: Array(folder.utf8))) ?? []
    return question(name, entries.lazy.compactMap { String(validating: $0.name, as: UTF8.self) })
  }
}

extension FlowUnit {
  /// Checks that the commands, which have succeeded, have made all outputs that are paths.
  ///
  /// - Throws: A ``FlowFailure`` that names the first missing one.
  func checkOutputs(_ values: [String: String], in folder: FlowFolder) throws {
    let tree = FileTree(folder.workingFolder(directory(values)))
    for path in outputs(values).lazy.compactMap(\.path)
    where try tree.status(of: Array(path.utf8)) == nil {
      throw FlowFailure.other("it succeeded and did not make \(path.quoted)")
    }
  }
}
