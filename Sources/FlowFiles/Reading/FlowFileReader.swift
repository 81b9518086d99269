/// Reads the nodes of a file into the model, and collects all problems.
///
/// A wrong value is replaced by a correct one after it was reported, so that it does not cause more
/// problems. A file with problems is never returned.
struct FlowFileReader {
  var problems = FlowProblems()
  /// Whether nodes are missing in the tree.
  private(set) var hasIncompleteTree = false
  /// The values of the file, which all texts may use.
  private(set) var values: [FlowValue] = []
  private(set) var valueNames: Set<String> = []
  /// The names of all steps.
  var stepNames: Set<String> = []
  /// The options of the last step that was read.
  var lastOptions: FlowStepOptions.Shared?
  /// The number of reported unknown keys that say nothing about other fields.
  var harmlessKeys = 0

  /// - Parameters:
  ///   - texts: The texts that a run sets; nil for a file that is not run.
  ///   - selection: Which steps will run.
  static func file(
    _ tree: consuming FlowNodeTree, path: String, setting texts: [String: String]?,
    running selection: FlowSelection
  ) throws(FlowFileError) -> FlowFile {
    var reader = FlowFileReader()
    reader.hasIncompleteTree = !tree.problems.isEmpty
    for problem in tree.problems { reader.problems.report(problem.location, problem.message) }
    let root = tree.root
    let file = reader.file(root, path: path, setting: texts)
    // Other problems can be the reason that a file seems to be missing.
    if let texts, !reader.problems.isEmpty, reader.problems.count == reader.harmlessKeys,
      let included = try? selection.steps(of: file)
    {
      var file = file
      file.values = file.values.setting(texts)
      file.checkInputs(in: FlowFolder(ofFile: path, flow: file.name), &reader.problems) { step in
        included.contains(step.name) ? step.units(step.each?.knownValues(file.texts)) : []
      }
    }
    if let error = reader.problems.error(path: path) { throw error }
    return file
  }

  private mutating func file(
    _ root: consuming FlowNode, path: String, setting texts: [String: String]?
  ) -> FlowFile {
    let fields = fields(of: root, in: .file, location: root.location)
    let name = fields.field(.flow).flatMap { flowName($0) } ?? ""
    let width = fields.field(.width).flatMap { number($0, FlowRanges.width) }
    let resumeWithin =
      fields.field(.resumeWithin).flatMap { duration($0, allowsZero: true) } ?? Self.resumeWithin
    let kept = fields.field(.keep).map { self.kept($0) } ?? FlowKeep()
    if let field = fields.field(.values, eachAdvice: Self.fileAdvice) { readValues(field) }
    let secrets = fields.field(.secrets).map { self.secrets($0) } ?? []
    let dotenv =
      fields.field(.dotenv, eachAdvice: Self.fileAdvice).map { field in
        elements(field).compactMap { template($0, field, unit: "path") }
      } ?? []
    let environment =
      fields.field(.env, eachAdvice: Self.fileAdvice).map { variables($0) } ?? []
    let shell = fields.field(.shell, eachAdvice: Self.fileAdvice).flatMap { self.shell($0) }
    let grace = fields.field(.stopGrace).flatMap { duration($0, allowsZero: true) }
    var defaults = defaults(fields.field(.defaults), stopGrace: grace)
    defaults.shell = defaults.shell ?? shell
    let comparison: FlowComparison? = choice(fields.field(.compare))
    defaults.comparison = defaults.comparison ?? comparison
    let occasions = fields.field(.on, eachAdvice: Self.fileAdvice).map { commands(on: $0) } ?? [:]
    let output = choice(fields.field(.output)) ?? FlowOutputMode.quiet
    var locks = fields.field(.locks).map { permits($0) } ?? [:]
    let steps = fields.field(.steps).map { self.steps($0, environment, defaults) } ?? []
    let count = problems.count
    let order = checkReferences(steps)
    let set = values.setting(texts ?? [:])
    let folder = FlowFolder.path(ofFile: path)
    if problems.count == count {
      steps.checkInputs(set.texts, in: folder, order: order, &problems)
    }
    if texts != nil { set.reportMissing(&problems) }
    set.reportTooLong(&problems)
    steps.checkOutputs(set.texts, in: folder, &problems)
    checkLocks(steps, &locks)
    if !secrets.isEmpty { checkSecrets(secrets, environment, steps) }
    return FlowFile(
      name: name, path: path, width: width, resumeWithin: resumeWithin, kept: kept,
      stopGrace: grace ?? Self.defaultGrace, values: values, dotenv: dotenv, secrets: secrets,
      output: output,
      occasions: occasions, shell: shell ?? Self.defaultShell, environment: environment,
      locks: locks, steps: steps, indices: steps.indicesByName, order: order)
  }

  private static let resumeWithin = Duration.seconds(12 * 3_600)
  static let fileAdvice = "only a step with 'each' has it"

  private mutating func flowName(_ field: FlowField) -> String? {
    guard let name = text(field) else { return nil }
    if !name.isFlowName {
      problems.report(field.node.location, Self.message(aboutInvalid: name, "flow name"))
    }
    return name
  }

  private mutating func commands(on field: FlowField) -> [FlowOccasion: FlowCommand] {
    let entries = entries(of: field.node, label: field.label, unit: "key", end: " in on") ?? []
    var commands: [FlowOccasion: FlowCommand] = [:]
    for entry in entries {
      guard let occasion = FlowOccasion(rawValue: entry.key) else {
        let names = FlowOccasion.allCases.map(\.rawValue).joined(separator: ", ")
        problems.report(
          entry.location, "unknown key \(entry.key.quoted) in on; expected one of \(names)")
        continue
      }
      commands[occasion] = condition(
        FlowField(
          key: .on, label: "\(entry.key) of on", node: entry.value, eachAdvice: field.eachAdvice))
    }
    return commands
  }

  private mutating func secrets(_ field: FlowField) -> [String] {
    elements(field).compactMap { node in
      guard let name = text(node, field.label) else { return nil }
      if valueNames.contains(name) {
        problems.report(
          node.location,
          "\(name.quoted) in secrets is a value, which is stored with each run; expected a variable "
            + "of the environment, env or dotenv")
      } else if !name.isValueName {
        problems.report(
          node.location,
          "invalid variable \(name.quoted) in secrets; expected letters, digits and '_', and no "
            + "digit at the start")
      }
      return name
    }
  }

  /// Reports secrets whose texts depend on something that is stored.
  private mutating func checkSecrets(
    _ secrets: [String], _ environment: [FlowVariable], _ steps: [FlowStep]
  ) {
    let shared = steps.first?.options.value.sharedEnvironment ?? []
    let own = steps.flatMap { $0.options.value.ownEnvironment }
    for variable in environment + shared + own where secrets.contains(variable.name) {
      guard let name = variable.text.usesEach ? "each" : variable.text.names.first else { continue }
      problems.report(
        nil,
        "the secret \(variable.name.quoted) uses ${\(name)}, which is stored with each run; expected "
          + "a variable of the environment or of dotenv")
    }
  }

  private mutating func kept(_ field: FlowField) -> FlowKeep {
    var kept = FlowKeep()
    let entries = entries(of: field.node, label: field.label, unit: "key", end: " in keep") ?? []
    for entry in entries {
      let label = "\(entry.key) of keep"
      switch entry.key {
      case "runs": kept.runs = number(entry.value, FlowRanges.keptRuns, label) ?? kept.runs
      case "days": kept.days = number(entry.value, FlowRanges.keptDays, label) ?? kept.days
      default:
        problems.report(
          entry.location, "unknown key \(entry.key.quoted) in keep; expected 'runs' or 'days'")
      }
    }
    return kept
  }

  /// Reads one of some words.
  mutating func choice<Choice: FlowChoice>(_ field: FlowField?) -> Choice? {
    guard let field, let text = text(field) else { return nil }
    let choice = Choice(rawValue: text)
    if choice == nil {
      problems.report(
        field.node.location,
        "unknown \(field.key.rawValue) \(text.quoted); expected \(Choice.names)")
    }
    return choice
  }

  static func message(aboutInvalid name: String, _ unit: String) -> String {
    name.utf8.count > FlowLimits.nameCharacters
      ? "the \(unit) \(name.quoted) is too long; "
        + "the limit is \(FlowLimits.nameCharacters) characters"
      : "invalid \(unit) \(name.quoted); expected letters, digits, '.', '_' and '-'"
  }

  // MARK: - Values

  private mutating func readValues(_ field: FlowField) {
    let entries =
      entries(of: field.node, label: field.label, unit: "value", end: "") ?? []
    valueNames = Set(entries.map(\.key))
    var earlier: Set<String> = []
    for entry in entries {
      if entry.key == "each" || entry.key.isReservedValueName {
        problems.report(
          entry.location,
          entry.key == "each"
            ? "the value name 'each' is reserved for the children of a step"
            : "the value name \(entry.key.quoted) is reserved; programs give it a meaning")
      } else if !entry.key.isValueName {
        problems.report(
          entry.location,
          "invalid value name \(entry.key.quoted); expected letters, digits and '_', "
            + "and no digit at the start")
      }
      let label = "value \(entry.key.quoted)"
      let text = optionalText(entry.value, label).map {
        template($0, entry.value.location, field, unit: nil, label: label)
      }
      for name in text?.names ?? [] where valueNames.contains(name) && !earlier.contains(name) {
        problems.report(
          entry.value.location, "\(name.quoted) in \(label) is not an earlier value; move it up")
      }
      values.append(FlowValue(name: entry.key, text: text, location: entry.location))
      earlier.insert(entry.key)
    }
  }

  // MARK: - Locks

  private mutating func permits(_ field: FlowField) -> [String: Int] {
    var permits: [String: Int] = [:]
    let entries = entries(of: field.node, label: field.label, unit: "lock", end: "") ?? []
    for entry in entries {
      checkLockName(entry.key, entry.location)
      let label = "permits of lock \(entry.key.quoted)"
      permits[entry.key] =
        number(entry.value, FlowRanges.permits, label) ?? FlowRanges.permits.upperBound
    }
    return permits
  }

  mutating func checkLockName(_ name: String, _ location: FlowLocation) {
    if !name.isFlowName {
      problems.report(location, Self.message(aboutInvalid: name, "lock name"))
    }
  }

  /// Adds the locks that only steps name, and reports steps that take more permits than there are.
  private mutating func checkLocks(_ steps: [FlowStep], _ locks: inout [String: Int]) {
    for step in steps {
      for lock in step.locks {
        let permits = locks[lock.name, default: 1]
        if lock.permits > permits {
          let advice = locks[lock.name] == nil ? "; declare it in locks" : ""
          problems.report(
            lock.location,
            "step \(step.name.quoted) takes \(lock.permits) permits of lock "
              + "\(lock.name.quoted), which has \(permits)\(advice)")
        }
      }
    }
    for lock in steps.flatMap(\.locks) where locks[lock.name] == nil { locks[lock.name] = 1 }
  }
}
