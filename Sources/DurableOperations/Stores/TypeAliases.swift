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
    let names = aliases.map { ($0.key, TypeName.of($0.value)) }
    return StepTypes(
      operations: types.operations.map { Self.replaced($0, by: names) },
      success: Self.replaced(types.success, by: names))
  }

  // MARK: Names of steps, which are names of types without modules unless a program names them

  /// Whether a stored name is the name of a step of this program, now or before its type was renamed.
  package func isStep(_ stored: String, named name: String) -> Bool {
    stored == name
      || aliases.contains {
        Self.replaced(stored, by: [(Self.short($0.key), "\($0.value)")]) == name
      }
  }

  /// The oldest name of a step; nil if its type had no other name.
  func formerName(ofStep name: String, _ types: StepTypes) -> String? {
    for (former, type) in aliases where types.operations.contains(TypeName.of(type)) {
      let current = "\(type)"
      if name == current || name.hasPrefix(current + ".") {
        return Self.short(former) + name.dropFirst(current.count)
      }
    }
    return nil
  }

  /// The name of a type without its module.
  private static func short(_ name: String) -> String {
    name.split(separator: ".").last.map(String.init) ?? name
  }

  /// A name of a type, in which names of types are replaced, also as arguments of generic types.
  private static func replaced(_ name: String, by names: [(former: String, current: String)])
    -> String
  {
    var result = ""
    var rest = name[...]
    while let first = rest.first {
      let part = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      if part.isEmpty {
        result.append(first)
        rest = rest.dropFirst()
      } else {
        result += names.first { $0.former == part }?.current ?? String(part)
        rest = rest[part.endIndex...]
      }
    }
    return result
  }
}
