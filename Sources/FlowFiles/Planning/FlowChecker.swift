import SystemSupport

extension FlowFile {
  /// The definitions of the steps by name.
  ///
  /// - Parameters:
  ///   - environment: The variables of the process.
  ///   - key: The key of the hashes of secrets.
  package func definitions(
    environment: [String: String], hashingWith key: String
  ) -> [String: String] {
    let values = texts
    let environment = variables.merging(environment) { $1 }
    let secrets = FlowSecrets(self, environment: environment)
    var definitions: [String: String] = [:]
    definitions.reserveCapacity(steps.count)
    for step in steps {
      definitions[step.name] = step.definition(
        values: values, environment: environment, hashing: secrets, with: key)
    }
    return definitions
  }
}

extension FlowChecker {
  /// - Parameter start: The run; nil if the flow has not run yet.
  init(
    _ file: FlowFile, _ folder: FlowFolder, _ start: FlowStart?, _ definitions: [String: String],
    hiding secrets: FlowSecrets
  ) {
    self.init(
      file: file, folder: folder, definitions: definitions, records: start?.records ?? [:],
      run: start?.run.number ?? 1, runs: start?.parts ?? [], hiding: secrets)
  }
}

/// Decides whether a step or a child is current: the one rule for new runs and for resumed ones.
///
/// It compares the record of the last success with the definition, with the files that a ``FileView``
/// sees, and with what the needed steps have made. It knows no time.
package struct FlowChecker: Sendable {
  let file: FlowFile
  let folder: FlowFolder
  /// The values of the flow.
  let values: [String: String]
  /// The definitions of the steps by name.
  package let definitions: [String: String]
  /// The last successes by the name of the step or the child.
  let records: [ExactText: FlowRecord]
  /// The number of the run.
  let run: Int
  /// The runs whose successes belong to this run: itself, and later ones of some of its steps.
  let runs: Set<Int>
  let view: FileView
  /// The names of the steps whose lines or rows another step reads.
  let lineSources: Set<String>
  /// The names of the steps whose rows another step reads.
  let rowSources: Set<String>
  let secrets: FlowSecrets

  /// Returns the log of a step or a child in the run.
  @Sendable func log(of unit: String) -> FlowLog {
    folder.log(of: unit, inRun: run, hiding: secrets)
  }

  package init(
    file: FlowFile, folder: FlowFolder, definitions: [String: String],
    records: [ExactText: FlowRecord], run: Int, runs: Set<Int>, hiding secrets: FlowSecrets = .none,
    view: FileView = .system
  ) {
    self.file = file
    self.folder = folder
    self.secrets = secrets
    values = file.texts
    self.definitions = definitions
    self.records = records
    self.run = run
    self.runs = runs.union([run])
    self.view = view
    var (lineSources, rowSources): (Set<String>, Set<String>) = ([], [])
    for step in file.steps {
      if case .rowsOf(let source) = step.each { rowSources.insert(source.name) }
      if case .linesOf(let source) = step.each { lineSources.insert(source.name) }
    }
    self.rowSources = rowSources
    self.lineSources = lineSources.union(rowSources)
  }

  func record(of unit: FlowUnit) -> FlowRecord? { records[ExactText(unit.name)] }

  /// Whether the last success of a unit belongs to this run.
  func hasSucceededInRun(_ unit: FlowUnit) -> Bool {
    record(of: unit).map { runs.contains($0.run) } ?? false
  }

  func hasSameDefinition(_ unit: FlowUnit) -> Bool {
    guard let record = record(of: unit), let now = definitions[unit.step.name] else { return false }
    return record.definition.hasSameBytes(as: now)
  }

  /// Decides for a unit whose needs are current.
  ///
  /// - Parameters:
  ///   - needs: What the steps that it needs have made.
  ///   - predecessor: The name of a step that runs again, and after whose end the unit runs.
  package func decision(for unit: FlowUnit, needs: FlowUse, predecessor: String?) throws
    -> FlowDecision
  {
    let hasOutputs = !unit.step.outputs.isEmpty
    guard let record = record(of: unit) else {
      return .runs(hasOutputs ? .neverSucceeded : .hasNoOutputs)
    }
    let lacksLines = record.lines == nil && lineSources.contains(unit.name)
    if lacksLines || !hasSameDefinition(unit) { return .runs(.definitionChanged) }
    let isOfRun = hasSucceededInRun(unit)
    if !hasOutputs, !isOfRun { return .runs(.hasNoOutputs) }
    switch needs.change(from: record.used) {
    case .made(let name): return .runs(.needChanged(name))
    case .children(let name): return .runs(.childrenChanged(name))
    case .needs(let name): return .runs(.needsChanged(name))
    case nil: break
    }
    if let difference = try difference(outputs(of: unit), from: record.outputs, of: unit) {
      return .runs(.output(difference))
    }
    // An output that the commands have not made.
    if let missing = FileFingerprint(text: record.outputs).missing {
      return .runs(.output(.missing(missing)))
    }
    if let difference = try difference(inputs(of: unit), from: record.inputs, of: unit) {
      return .runs(.input(difference))
    }
    if !hasOutputs, let predecessor = predecessor ?? laterPredecessor(of: unit, record) {
      return .runs(.after(predecessor))
    }
    return isOfRun ? .done : .upToDate
  }

  /// The name of a step that has succeeded again in this run since the unit has, although the unit runs
  /// after it: a process was killed between them.
  private func laterPredecessor(of unit: FlowUnit, _ record: FlowRecord) -> String? {
    unit.step.after.first { step in
      records[ExactText(step.name)].map { runs.contains($0.run) && $0.number > record.number }
        ?? false
    }?.name
  }

  func inputs(of unit: FlowUnit) throws -> FileFingerprint {
    if unit.step.inputs.isEmpty, unit.step.standardInput == nil { return FileFingerprint(text: "") }
    return try view.fingerprint(unit.inputs(values), workingFolder(of: unit))
  }

  private func outputs(of unit: FlowUnit) throws -> FileFingerprint {
    if unit.step.outputs.isEmpty { return FileFingerprint(text: "") }
    return try view.fingerprint(unit.outputs(values), workingFolder(of: unit))
  }

  private func workingFolder(of unit: FlowUnit) -> String {
    folder.workingFolder(unit.directory(values))
  }

  // MARK: The comparison

  /// The inputs as a record has them.
  package func recordedInputs(of unit: FlowUnit) throws -> FileFingerprint {
    try recorded(inputs(of: unit), after: record(of: unit)?.inputs, of: unit)
  }

  /// The outputs as a record has them.
  package func recordedOutputs(of unit: FlowUnit) throws -> FileFingerprint {
    try recorded(outputs(of: unit), after: record(of: unit)?.outputs, of: unit)
  }

  private func recorded(
    _ now: FileFingerprint, after earlier: String?, of unit: FlowUnit
  ) throws -> FileFingerprint {
    guard let hash = hashing(of: unit) else { return now }
    return try now.hashed(after: earlier.map { FileFingerprint(text: $0) }, by: hash)
  }

  /// Returns the first difference of files from those of a record. The contents decide about files with
  /// other stamps, with `compare: content`.
  func difference(
    _ now: FileFingerprint, from earlier: String, of unit: FlowUnit
  ) throws -> FileDifference? {
    try now.difference(from: FileFingerprint(text: earlier), by: hashing(of: unit))
  }

  private func hashing(of unit: FlowUnit) -> FileFingerprint.Hashing? {
    if unit.step.comparison == .stamp { return nil }
    let folder = workingFolder(of: unit)
    return { [view] in try view.hash($0, $1, folder) }
  }

  /// The record of a current unit with the stamps and hashes that its files have now, so that the
  /// contents are not read again; nil if it has them.
  func renewedRecord(of unit: FlowUnit) throws -> FlowRecord? {
    guard unit.step.comparison == .content, var record = record(of: unit) else { return nil }
    let (inputs, outputs) = (try recordedInputs(of: unit), try recordedOutputs(of: unit))
    if inputs.text == record.inputs, outputs.text == record.outputs { return nil }
    // They may have changed since the decision.
    if try difference(inputs, from: record.inputs, of: unit) != nil { return nil }
    if try difference(outputs, from: record.outputs, of: unit) != nil { return nil }
    (record.inputs, record.outputs) = (inputs.text, outputs.text)
    return record
  }

  /// Returns the values of the children of a step as the file and the files on the disk show them; nil
  /// if another step provides them, or without children.
  func values(of step: FlowStep) throws -> [String]? {
    switch step.each {
    case .list, .matrix: step.each?.knownValues(values)
    case .glob(let pattern):
      try view.files(pattern, values, folder.workingFolder(step.directory?.text(values)))
    case .rowsOfFile(let file): try folder.rows(of: file, step, values)
    case nil, .linesOf, .rowsOf, .sameAs: nil
    }
  }
}
