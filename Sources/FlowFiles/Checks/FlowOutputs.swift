extension [FlowStep] {
  /// Reports outputs that two steps, or two children of a step, would write.
  ///
  /// Outputs are compared as texts, with the values filled in and without `.` and empty names in
  /// paths. Steps with different working directories have no equal outputs, unless the paths are
  /// absolute. Patterns that match the same files are not found.
  func checkOutputs(_ texts: [String: String], _ problems: inout FlowProblems) {
    let sources = eachSources
    let lists = eachLists
    // Many outputs of many children would take too long.
    var children = 200_000
    var owners = FlowOutputOwners(capacity: count)
    for (index, step) in enumerated() {
      for output in step.outputs where !output.source.isEmpty {
        if step.each != nil, !output.usesEach {
          problems.report(
            output.location,
            "duplicate output \(output.text(texts).shortened) of the children of step "
              + "\(step.name.quoted); use "
              + "'${each\(step.each?.hasColumns == true ? ".NAME" : "")}' in it"
          )
          continue
        }
        let source = sources[step.name] ?? step.name
        var values: [String]?
        if output.usesEach, let each = lists[source], let count = each.knownCount {
          children -= Swift.min(count, children + 1)
          if children >= 0 { values = each.knownValues(texts) }
        }
        for (path, isPattern) in output.paths(texts, values) {
          let key = FlowOutputKey(
            path: ExactText(path.normalizedPath),
            directory: path.utf8.first == UInt8(ascii: "/")
              ? "" : ExactText((step.directory?.text(texts) ?? "").normalizedPath),
            source: isPattern ? source : nil)
          guard let owner = owners.add(key, of: index).map({ self[$0].name }) else { continue }
          problems.report(
            output.location,
            owner == step.name
              ? "duplicate output \(path.shortened) of step \(step.name.quoted)"
              : "duplicate output \(path.shortened) of steps \(owner.quoted) "
                + "and \(step.name.quoted)")
        }
      }
    }
  }

  /// For each step with `same-as`, the step that provides the values in the end.
  var eachSources: [String: String] {
    var sources: [String: String] = [:]
    for step in self {
      if case .sameAs(let reference)? = step.each { sources[step.name] = reference.name }
    }
    var ends: [String: String] = [:]
    for start in sources.keys {
      var path: [String] = []
      var name = start
      // A chain of references can have a cycle, which is another problem.
      var seen: Set<String> = []
      while ends[name] == nil, let next = sources[name], seen.insert(name).inserted {
        path.append(name)
        name = next
      }
      let end = ends[name] ?? name
      for member in path { ends[member] = end }
    }
    return ends
  }

  /// The steps whose children the file names.
  private var eachLists: [String: FlowEach] {
    var lists: [String: FlowEach] = [:]
    for step in self where step.each?.knownCount != nil { lists[step.name] = step.each }
    return lists
  }
}

/// The first step that writes each output.
private struct FlowOutputOwners {
  /// The indices of the steps by path, for most outputs.
  private var paths: [ExactText: Int32] = [:]
  private var others: [FlowOutputKey: Int32] = [:]

  init(capacity: Int) { paths.reserveCapacity(capacity) }

  /// Adds an output of a step.
  ///
  /// - Returns: The index of the step that writes the same output; nil if there is none.
  mutating func add(_ key: FlowOutputKey, of step: Int) -> Int? {
    let index = Int32(step)
    let first =
      if key.directory == "", key.source == nil {
        paths.setDefault(index, for: key.path)
      } else {
        others.setDefault(index, for: key)
      }
    return first.map { Int($0) }
  }
}

extension Dictionary {
  /// Adds a value for a new key, or returns the value of a key that is there.
  fileprivate mutating func setDefault(_ value: Value, for key: Key) -> Value? {
    if let present = self[key] { return present }
    self[key] = value
    return nil
  }
}

private struct FlowOutputKey: Hashable {
  let path: ExactText
  let directory: ExactText
  /// The step that provides the values, if the path has an unknown value of a child.
  let source: String?
}

extension FlowTemplate {
  /// The paths of an output: one for each child if the values are in the file, otherwise a single
  /// path in which `${each}` stays.
  fileprivate func paths(
    _ texts: [String: String], _ values: [String]?
  ) -> [(path: String, isPattern: Bool)] {
    guard usesEach else { return [(text(texts), false)] }
    guard let values else { return [(text(texts), true)] }
    return values.map { (text(texts, each: $0), false) }
  }
}

extension String {
  /// The path without `.` and empty names.
  package var normalizedPath: String {
    if isNormalizedPath { return self }
    // By bytes, because a mark that is combined with a slash is a part of the next name.
    let names = pathNames.filter { !$0.elementsEqual(".".utf8) }
    let path = names.map { String($0) ?? "" }.joined(separator: "/")
    return (utf8.first == UInt8(ascii: "/") ? "/" : "") + path
  }

  /// The names of the path. None is empty.
  var pathNames: [Substring.UTF8View] { utf8.split(separator: UInt8(ascii: "/")) }

  /// Whether the path has no name that is `.` or empty. Most paths have none.
  private var isNormalizedPath: Bool {
    var count = 0
    var isDot = false
    for (index, byte) in utf8.enumerated() {
      guard byte == UInt8(ascii: "/") else {
        isDot = count == 0 && byte == UInt8(ascii: ".")
        count += 1
        continue
      }
      if isDot || count == 0 && index > 0 { return false }
      count = 0
    }
    return count > 0 && !isDot
  }

  /// The text for messages, without quotes.
  fileprivate var shortened: String { String(quoted.dropFirst().dropLast()) }
}
