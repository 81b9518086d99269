/// The values of a mapping with keys: a file, its defaults or a step.
struct FlowFields {
  let place: FlowKey.Place
  /// The name of the step.
  let owner: String?
  let location: FlowLocation
  fileprivate(set) var nodes: [FlowKey: FlowNode] = [:]

  /// The name of a field for messages: `needs of 'pack'`, `timeout of defaults` or `width`.
  func label(_ key: FlowKey) -> String {
    switch place {
    case .file: key.rawValue
    case .defaults: "\(key.rawValue) of defaults"
    case .step: "\(key.rawValue) of \((owner ?? "").quoted)"
    }
  }
}

/// A text or another value of a field, with the words for messages about it.
struct FlowField {
  let key: FlowKey
  let label: String
  let node: FlowNode
  /// Whether the text may use `${each}`, and the words for a text that must not.
  let eachAdvice: String?
}

extension FlowFields {
  /// - Parameter eachAdvice: Why texts must not use `${each}`; nil if they may.
  func field(_ key: FlowKey, eachAdvice: String? = nil) -> FlowField? {
    nodes[key].map {
      FlowField(key: key, label: label(key), node: $0, eachAdvice: eachAdvice)
    }
  }
}

extension FlowFileReader {
  /// Reads a mapping whose keys are known, and reports unknown and missing keys.
  mutating func fields(
    of node: FlowNode, in place: FlowKey.Place, owner: String? = nil, location: FlowLocation
  ) -> FlowFields {
    var fields = FlowFields(place: place, owner: owner, location: location)
    let name = place.name(owner)
    guard let entries = entries(of: node, label: name, unit: "key", end: " in \(name)") else {
      return fields
    }
    // A key under another name is not missing as well.
    var expected: Set<String> = []
    for entry in entries {
      if let key = FlowKey(rawValue: entry.key), key.places.contains(place) {
        fields.nodes[key] = entry.value
      } else {
        let advice = advice(aboutUnknown: entry.key, in: place)
        expected.insert(advice)
        problems.report(entry.location, "unknown key \(entry.key.quoted) in \(name); \(advice)")
        let decisive = [FlowKey.outputs, .directory, .defaults].map(\.rawValue)
        if !decisive.contains(where: { entry.key == $0 || advice == "expected '\($0)'" }) {
          harmlessKeys += 1
        }
      }
    }
    // Nor is a key that a merge key or a tag may have provided.
    if hasIncompleteTree { return fields }
    for key in place.requiredKeys
    where fields.nodes[key] == nil && !expected.contains("expected '\(key.rawValue)'") {
      // A step that only groups others.
      if place == .step, fields.nodes[.needs] != nil { continue }
      problems.report(location, "missing key '\(key.rawValue)' in \(name)")
    }
    return fields
  }

  private mutating func advice(
    aboutUnknown name: String, in place: FlowKey.Place
  ) -> String {
    if let key = place.keys.first(where: { $0.synonyms.contains(name.lowercased()) }) {
      return "expected '\(key.rawValue)'"
    }
    if let key = FlowKey(rawValue: name) {
      // All other keys are keys of other places.
      return key.places.contains(.step)
        ? "only a step has it" : "it belongs to the top level of the file"
    }
    if let nearest = problems.nearest(name, place.keys.map(\.rawValue)) {
      return "expected '\(nearest)'"
    }
    return "expected one of \(place.keys.map(\.rawValue).joined(separator: ", "))"
  }

  /// Returns the entries of a mapping with different keys; nil for a value of another kind, which is
  /// reported.
  ///
  /// - Parameters:
  ///   - unit: The word for a key.
  ///   - end: The place of a duplicate key.
  mutating func entries(
    of node: FlowNode, label: String, unit: String, end: String
  ) -> [FlowNode.Entry]? {
    guard case .mapping(let entries) = node.content else {
      report(node, expected: "a mapping", label)
      return nil
    }
    if entries.haveDifferentKeys { return entries }
    var first: [String: FlowLocation] = [:]
    return entries.filter { entry in
      guard let location = first[entry.key] else {
        first[entry.key] = entry.location
        return true
      }
      problems.report(
        entry.location,
        "duplicate \(unit) \(entry.key.quoted)\(end); the first is in line \(location.line)")
      return false
    }
  }

  mutating func report(_ node: FlowNode, expected: String, _ label: String) {
    problems.report(node.location, "expected \(expected) in \(label), found \(node.kind)")
  }
}

extension [FlowNode.Entry] {
  /// Whether no key occurs twice. A copy without duplicates would take more memory than the keys.
  fileprivate var haveDifferentKeys: Bool {
    if count <= 8 {
      return indices.allSatisfy { index in !self[..<index].contains { $0.key == self[index].key } }
    }
    var keys: Set<String> = []
    keys.reserveCapacity(count)
    return allSatisfy { keys.insert($0.key).inserted }
  }
}

extension FlowKey.Place {
  fileprivate func name(_ owner: String?) -> String {
    switch self {
    case .file: "the file"
    case .defaults: "defaults"
    case .step: "step \((owner ?? "").quoted)"
    }
  }
}
