/// The fields of `defaults`.
struct FlowDefaults {
  var width: Int?
  var retries: Int?
  var backoff: Duration?
  var timeout: Duration?
  var stopGrace: Duration?
  var directory: FlowTemplate?
  var shell: [FlowTemplate]?
  var environment: [FlowVariable] = []
  var locks: [FlowLock]?
  var accept: Set<Int32>?
  var comparison: FlowComparison?
}

extension FlowFileReader {
  mutating func defaults(_ field: FlowField?, stopGrace fileGrace: Duration?) -> FlowDefaults {
    guard let field else { return FlowDefaults(stopGrace: fileGrace) }
    let fields = fields(of: field.node, in: .defaults, location: field.node.location)
    var defaults = shared(fields, eachAdvice: Self.fileAdvice)
    defaults.stopGrace = defaults.stopGrace ?? fileGrace
    return defaults
  }

  /// Reads the fields that steps and defaults have.
  private mutating func shared(_ fields: FlowFields, eachAdvice: String?) -> FlowDefaults {
    FlowDefaults(
      width: fields.field(.width).flatMap { number($0, FlowRanges.width) },
      retries: fields.field(.retries).flatMap { number($0, FlowRanges.retries) },
      backoff: fields.field(.backoff).flatMap { duration($0, allowsZero: true) },
      timeout: fields.field(.timeout).flatMap { duration($0, allowsZero: false) },
      stopGrace: fields.field(.stopGrace).flatMap { duration($0, allowsZero: true) },
      directory: fields.field(.directory, eachAdvice: eachAdvice).flatMap {
        template($0, unit: "path")
      },
      shell: fields.field(.shell, eachAdvice: eachAdvice).flatMap { shell($0) },
      environment: fields.field(.env, eachAdvice: eachAdvice).map { variables($0) } ?? [],
      locks: fields.field(.locks).map { locks($0) },
      accept: fields.field(.accept).map { statuses($0) },
      comparison: choice(fields.field(.compare)))
  }

  mutating func steps(
    _ field: FlowField, _ environment: [FlowVariable], _ defaults: FlowDefaults
  ) -> [FlowStep] {
    guard let entries = entries(of: field.node, label: field.label, unit: "step", end: "") else {
      return []
    }
    if entries.isEmpty, !hasIncompleteTree {
      problems.report(field.node.location, "steps is empty; expected at least one step")
    }
    stepNames = Set(entries.map(\.key))
    let environment = environment.merging(defaults.environment)
    return entries.map { step($0, environment, defaults) }
  }

  private mutating func step(
    _ entry: FlowNode.Entry, _ environment: [FlowVariable], _ defaults: FlowDefaults
  ) -> FlowStep {
    let name = entry.key
    if !name.isFlowName {
      problems.report(entry.location, Self.message(aboutInvalid: name, "step name"))
    }
    let fields = fields(of: entry.value, in: .step, owner: name, location: entry.location)
    let hasEach = fields.nodes[.each] != nil
    let eachAdvice = hasEach ? nil : "the step has no 'each'"
    let own = shared(fields, eachAdvice: eachAdvice)
    if own.width != nil, !hasEach, let node = fields.nodes[.width] {
      problems.report(node.location, "width of \(name.quoted) has no effect without 'each'")
    }
    if fields.nodes[.run] == nil, fields.nodes[.needs] != nil { checkGroup(name, fields) }
    let isInteractive = fields.field(.interactive).flatMap { flag($0) } ?? false
    if isInteractive, let node = fields.nodes[.stdin] {
      problems.report(
        node.location, "stdin of \(name.quoted) has no effect: the step is interactive")
    }
    let locks = own.locks ?? defaults.locks ?? []
    let options = FlowStepOptions(
      onlyIf: fields.field(.onlyIf, eachAdvice: eachAdvice).flatMap { condition($0) },
      each: fields.field(.each, eachAdvice: "it comes from this field").flatMap {
        each($0, owner: name)
      },
      width: hasEach ? own.width ?? defaults.width : nil,
      retries: own.retries ?? defaults.retries ?? 0, backoff: own.backoff ?? defaults.backoff,
      timeout: own.timeout ?? defaults.timeout,
      stopGrace: own.stopGrace ?? defaults.stopGrace ?? Self.defaultGrace,
      directory: own.directory ?? defaults.directory,
      shell: own.shell ?? defaults.shell ?? Self.defaultShell,
      sharedEnvironment: environment, ownEnvironment: own.environment,
      locks: isInteractive ? locks.adding(.terminal(entry.location)) : locks,
      accept: own.accept ?? defaults.accept ?? Self.defaultAccept,
      standardInput: fields.field(.stdin, eachAdvice: eachAdvice).flatMap {
        template($0, unit: "path")
      }, isManual: fields.field(.manual).flatMap { flag($0) } ?? false,
      isInteractive: isInteractive,
      comparison: own.comparison ?? defaults.comparison ?? .stamp)
    return FlowStep(
      name: name, location: entry.location,
      commands: fields.field(.run, eachAdvice: eachAdvice).map { commands($0) } ?? [],
      needs: fields.field(.needs).map { references($0) } ?? [],
      after: fields.field(.after).map { references($0) } ?? [],
      inputs: fields.field(.inputs, eachAdvice: eachAdvice).map { patterns($0) } ?? [],
      outputs: fields.field(.outputs, eachAdvice: eachAdvice).map { patterns($0) } ?? [],
      options: shared(options))
  }

  /// Reports the keys that have no effect in a step without commands.
  private mutating func checkGroup(_ name: String, _ fields: FlowFields) {
    for (key, node) in fields.nodes.sorted(by: { $0.value.location < $1.value.location })
    where ![.needs, .after, .manual].contains(key) {
      problems.report(
        node.location,
        "\(key.rawValue) of \(name.quoted) has no effect without 'run'; a step that only groups "
          + "others has 'needs', 'after' and 'manual'")
    }
  }

  private static let defaultAccept: Set<Int32> = [0]
  static let defaultShell = FlowStep.defaultShell.map { FlowTemplate($0, at: .start) }
  static let defaultGrace = Duration.seconds(10)

  /// Returns the options of the step before if they are equal.
  private mutating func shared(_ options: FlowStepOptions) -> FlowStepOptions.Shared {
    if let lastOptions, lastOptions.value == options { return lastOptions }
    let shared = FlowStepOptions.Shared(options)
    lastOptions = shared
    return shared
  }

  private mutating func references(_ field: FlowField) -> [FlowReference] {
    elements(field).compactMap { node in
      text(node, field.label).map { FlowReference(name: $0, location: node.location) }
    }
  }

  // MARK: - Locks of a step

  private mutating func locks(_ field: FlowField) -> [FlowLock] {
    var locks: [FlowLock] = []
    var names: Set<String> = []
    switch field.node.content {
    case .mapping:
      let end = " in \(field.label)"
      for entry in entries(of: field.node, label: field.label, unit: "lock", end: end) ?? [] {
        checkLockName(entry.key, entry.location)
        let label = "permits of lock \(entry.key.quoted)"
        let permits = number(entry.value, FlowRanges.permits, label) ?? 1
        locks.append(FlowLock(name: entry.key, permits: permits, location: entry.location))
      }
    case .nothing, .text, .list:
      for node in elements(field) {
        guard let name = text(node, field.label) else { continue }
        checkLockName(name, node.location)
        if names.insert(name).inserted {
          locks.append(FlowLock(name: name, permits: 1, location: node.location))
        } else {
          problems.report(
            node.location,
            "duplicate lock \(name.quoted) in \(field.label); "
              + "write {\(name.prefix(80)): 2} for 2 permits")
        }
      }
    }
    return locks.sorted { $0.name < $1.name }
  }
}

extension FlowLock {
  /// The lock of interactive steps. No lock of a file can have its name.
  fileprivate static func terminal(_ location: FlowLocation) -> FlowLock {
    FlowLock(name: "/dev/tty", permits: 1, location: location)
  }
}

extension [FlowLock] {
  fileprivate func adding(_ lock: FlowLock) -> [FlowLock] {
    (self + [lock]).sorted { $0.name < $1.name }
  }
}
