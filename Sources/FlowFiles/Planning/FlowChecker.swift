extension FlowFile {
  /// The definitions of the steps by name.
  ///
  /// - Parameter environment: The variables of the process.
  func definitions(environment: [String: String]) -> [String: String] {
    let values = texts
    var definitions: [String: String] = [:]
    definitions.reserveCapacity(steps.count)
    for step in steps {
      definitions[step.name] = step.definition(values: values, environment: environment)
    }
    return definitions
  }
}

/// Decides for a step or a child whether it has to run, from the last successes and the files.
struct FlowChecker: Sendable {
  let file: FlowFile
  let folder: FlowFolder
  /// The values of the flow.
  let values: [String: String]
  /// The definitions of the steps by name.
  let definitions: [String: String]
  /// The last successes by the name of the step or the child.
  let stamps: [String: FlowStamp]
  /// The number of the run.
  let run: Int
  /// Whether an earlier process has begun the run.
  let isResumed: Bool

  init(
    file: FlowFile, folder: FlowFolder, definitions: [String: String],
    stamps: [String: FlowStamp], run: Int, isResumed: Bool
  ) {
    self.file = file
    self.folder = folder
    values = file.texts
    self.definitions = definitions
    self.stamps = stamps
    self.run = run
    self.isResumed = isResumed
  }

  /// Whether the last success of a unit counts for this run, if its definition has not changed.
  func hasSucceededInRun(_ unit: FlowUnit) -> Bool {
    guard isResumed, let stamp = stamps[unit.name] else { return false }
    // A later run of some of the steps counts, too.
    return stamp.run >= run
  }

  func hasSameDefinition(_ unit: FlowUnit) -> Bool {
    stamps[unit.name]?.definition == definitions[unit.step.name]
  }

  /// Whether the last success of a unit had the present definition, and the steps that it needs had
  /// theirs.
  func isCurrent(_ unit: FlowUnit, needs: FlowStepState) -> Bool {
    guard let stamp = stamps[unit.name], hasSameDefinition(unit) else { return false }
    return needs.isCurrent && needs.since <= stamp.ended
  }

  /// Decides for a unit whose needs have ended.
  ///
  /// - Parameters:
  ///   - needs: The state of the steps that it needs.
  ///   - changer: The name of the step that determines the last change in `needs`.
  ///   - predecessor: The name of a step that runs again, and after whose end the unit runs.
  func decision(
    for unit: FlowUnit, needs: FlowStepState, changer: String?, predecessor: String?
  ) throws -> FlowDecision {
    let isDone = hasSucceededInRun(unit) && isCurrent(unit, needs: needs)
    if isDone, predecessor == nil { return .done }
    if unit.step.outputs.isEmpty {
      if isDone, let predecessor { return .runs(.after(predecessor)) }
      // A changed definition is worth more to know.
      let isChanged = stamps[unit.name] != nil && !hasSameDefinition(unit)
      return .runs(isChanged ? .definitionChanged : .hasNoOutputs)
    }
    guard let stamp = stamps[unit.name] else { return .runs(.neverSucceeded) }
    if !hasSameDefinition(unit) { return .runs(.definitionChanged) }
    if let changer, needs.changed > stamp.ended { return .runs(.needChanged(changer)) }
    if let difference = try outputs(of: unit).difference(from: FileFingerprint(text: stamp.outputs))
    {
      return .runs(.output(difference))
    }
    // An output that the commands have not made.
    if let missing = FileFingerprint(text: stamp.outputs).missing {
      return .runs(.output(.missing(missing)))
    }
    if let difference = try inputs(of: unit).difference(from: FileFingerprint(text: stamp.inputs)) {
      return .runs(.input(difference))
    }
    return .upToDate
  }

  func inputs(of unit: FlowUnit) throws -> FileFingerprint {
    try FileFingerprint(
      of: unit.inputs(values), in: folder.workingFolder(unit.directory(values)))
  }

  func outputs(of unit: FlowUnit) throws -> FileFingerprint {
    try FileFingerprint(
      of: unit.outputs(values), in: folder.workingFolder(unit.directory(values)))
  }
}
