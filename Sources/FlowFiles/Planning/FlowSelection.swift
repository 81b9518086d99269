/// Which steps of a flow run.
public struct FlowSelection: Sendable {
  /// The steps to run with everything that they need; empty for all but the manual ones. Not with
  /// ``only`` or ``from``.
  public var targets: [String] = []
  /// The steps that run in any case, and no others.
  public var only: [String] = []
  /// The steps that run in any case with all steps that need them, and no others.
  public var from: [String] = []
  /// Whether the steps run even if they are current. Not with ``only`` or ``from``.
  public var forcesAll = false

  public init() {}

  /// Whether the run is one of some steps without what they need. It never continues another run.
  var isPart: Bool { !only.isEmpty || !from.isEmpty }

  /// The options of the command line, for people and as the identity of a run; nil for a run of the
  /// whole file.
  var text: String? {
    let words = targets + only.map { "--only \($0)" } + from.map { "--from \($0)" }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// Reads what ``text`` has written. No name of a step has a space.
  package init(text: String) {
    var words = text.split(separator: " ").map(String.init)[...]
    while let word = words.popFirst() {
      switch word {
      case "--from": from.append(words.popFirst() ?? "")
      case "--only": only.append(words.popFirst() ?? "")
      default: targets.append(word)
      }
    }
  }
}

extension FlowSelection {
  /// The names of the steps of a selection.
  package struct Steps: Sendable {
    let included: Set<String>
    /// Those that run in any case.
    let forced: Set<String>
  }

  /// Returns the steps of a file.
  ///
  /// - Throws: A problem that names a similar step, if there is no step with a name.
  package func steps(of file: FlowFile) throws(FlowFileError) -> Set<String> {
    try resolved(in: file).included
  }

  package func resolved(in file: FlowFile) throws(FlowFileError) -> Steps {
    for name in targets + only { try file.checkStep(name) }
    if isPart {
      var names = Set(only)
      for name in from {
        names.formUnion(
          try file.steps(from: name).filter {
            $0 == name || file.step(named: $0)?.isManual == false
          })
      }
      return Steps(included: names, forced: names)
    }
    let included = file.closure(
      of: targets.isEmpty
        ? file.steps.lazy.filter { !$0.isManual }.map(\.name) : targets)
    return Steps(included: included, forced: forcesAll ? included : [])
  }
}

extension FlowFile {
  /// The names of some steps and of all steps that they need, directly or indirectly.
  func closure(of names: [String]) -> Set<String> {
    var found = Set(names)
    var pending = names
    while let next = pending.popLast() {
      for name in step(named: next)?.neededNames ?? [] where found.insert(name).inserted {
        pending.append(name)
      }
    }
    return found
  }
}
