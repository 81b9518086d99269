package import CompositeOperations

// The former names of flows and types.
extension RunStoreOptions {
  /// The type with a former name; nil if there is none.
  func type(formerly name: String) -> (any Any.Type)? { aliases.first { $0.key == name }?.value }

  // MARK: Flows

  /// Whether a flow in the store is a flow of this program, under its name or a former one.
  func isFlow(_ stored: String, named name: String) -> Bool {
    stored == name || currentFlow(stored) == name
  }

  /// The names that a flow has in the store: its name, and the former ones.
  package func names(ofFlow name: String) -> [String] {
    [name] + aliases.map(\.key).filter { $0 != name && currentFlow($0) == name }
  }

  private func currentFlow(_ stored: String) -> String? {
    (type(formerly: stored) as? any DurableSequence.Type)?.flowName
  }

  // MARK: Types

  /// The names of stored types as this program has them.
  package func current(_ types: StepTypes) -> StepTypes {
    if aliases.isEmpty { return types }
    return StepTypes(
      operations: types.operations.map { current($0) }, success: current(types.success))
  }

  private func current(_ name: String) -> String {
    name.replacingWords { word, _ in type(formerly: word).map { TypeName.of($0) } }
  }

  /// Whether this program has a type: each name in its name is a former one, or one of a type that it finds. Generic
  /// types are not found by their names.
  func isKnown(_ name: String) -> Bool {
    var isKnown = true
    _ = name.replacingWords { word, place in
      if !place.isGeneric, type(formerly: word) == nil, !word.isNameOfType { isKnown = false }
      return nil
    }
    return isKnown
  }

  // MARK: Names of steps, which are names of types without modules unless a program names them

  /// Whether a stored name is the name of a step of this program, now or before its type was renamed.
  package func isStep(_ stored: String, named name: String) -> Bool {
    stored == name || permanentName(ofStep: stored) == permanentName(ofStep: name)
  }

  /// The name of a step in which the oldest names of types replace all later ones: at its beginning, and as arguments of
  /// generic types. The rest are names of modifiers.
  func permanentName(ofStep name: String) -> String {
    if aliases.isEmpty { return name }
    let names = shortNames
    if let oldest = names[name] { return oldest }
    if let dot = name.firstIndex(of: "."), let oldest = names[String(name[..<dot])] {
      return oldest + name[dot...]
    }
    return name.replacingWords { $1.isArgument ? names[$0] : nil }
  }

  /// The oldest name of each type and flow by its later ones, all without modules.
  private var shortNames: [String: String] {
    var oldest: [ObjectIdentifier: String] = [:]
    var names: [String: String] = [:]
    for (former, type) in aliases {
      let flow = (type as? any DurableSequence.Type)?.flowName
      let name = flow == nil ? former.split(separator: ".").last.map(String.init) ?? former : former
      let first = oldest[ObjectIdentifier(type), default: name]
      oldest[ObjectIdentifier(type)] = first
      for later in [name, flow ?? "\(type)"] where names[later] == nil { names[later] = first }
    }
    return names
  }
}

extension String {
  /// The text, in which words are replaced: letters, digits, underscores, and dots between them.
  ///
  /// - Parameter replacement: Returns nil for a word that stays. `isGeneric` is whether arguments follow, `isArgument` is
  ///   whether the word is one.
  fileprivate func replacingWords(
    _ replacement: (_ word: String, (isGeneric: Bool, isArgument: Bool)) -> String?
  ) -> String {
    var result = ""
    var rest = self[...]
    var depth = 0
    while let first = rest.first {
      let part = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      if part.isEmpty {
        if first == "<" { depth += 1 }
        // And not the arrow of a function.
        if first == ">", result.last != "-" { depth -= 1 }
        result.append(first)
        rest = rest.dropFirst()
      } else {
        rest = rest[part.endIndex...]
        result += replacement(String(part), (rest.first == "<", depth > 0)) ?? String(part)
      }
    }
    return result
  }

  /// Whether a type has this name with its module. Types in extensions are not found.
  fileprivate var isNameOfType: Bool {
    let parts = split(separator: ".").map { "\($0.utf8.count)\($0)" }
    guard let module = parts.first else { return false }
    // A structure, an enumeration or a class, also as the place of the next one.
    var names = [module]
    for part in parts.dropFirst() {
      names = names.flatMap { name in ["V", "O", "C"].map { name + part + $0 } }
    }
    return parts.count > 1 && names.contains { _typeByName($0) != nil }
  }
}
