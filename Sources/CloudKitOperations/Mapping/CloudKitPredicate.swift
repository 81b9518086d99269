internal import RecordOperations

extension RecordPredicate {
  /// Returns the filters of CloudKit, all of which a record must match (rule Y6).
  ///
  /// - Throws: A `RecordError` that names the part that CloudKit cannot evaluate.
  func filters() throws(RecordError) -> [CloudKitFilter] {
    switch self {
    case .all(let parts):
      var filters: [CloudKitFilter] = []
      for part in parts { filters += try part.filters() }
      return filters
    case .any(let parts) where parts.count == 1: return try parts[0].filters()
    case .any: throw Self.unsupported("alternatives (||)", advice: "query for each part by itself")
    case .comparison(let key, let comparison, let value):
      return [try Self.filter(key, CloudKitFilter.Comparator(comparison), value)]
    case .isOne(let key, let values):
      return [try Self.filter(key, .isOne, .list(Self.checked(values, for: key)))]
    case .hasPrefix(let key, let prefix):
      return [try Self.filter(key, .hasPrefix, .string(prefix))]
    case .includes(let key, let value): return [try Self.filter(key, .includes, value)]
    case .contains(let key, let part):
      throw Self.unsupported(
        "the search for \(part.shortText) within the field \(key)",
        advice: "use hasPrefix, or a list of words with includes")
    case .not(let part): return [try part.negated()]
    case .impossible(let reason): throw RecordError(.invalid(reason))
    }
  }

  private func negated() throws(RecordError) -> CloudKitFilter {
    switch self {
    case .comparison(let key, .equal, let value): return try Self.filter(key, .notEquals, value)
    case .comparison(let key, .notEqual, let value): return try Self.filter(key, .equals, value)
    case .isOne(let key, let values):
      return try Self.filter(key, .isNone, .list(Self.checked(values, for: key)))
    case .hasPrefix(let key, let prefix):
      return try Self.filter(key, .hasNotPrefix, .string(prefix))
    case .comparison(let key, let comparison, _):
      throw Self.unsupported(
        "the negation of \(comparison.rawValue) for the field \(key)",
        advice: "use the opposite comparison, which leaves out records without a value")
    default:
      throw Self.unsupported(
        "a negation other than of ==, isOne(of:) and hasPrefix", advice: "write it without !")
    }
  }

  private static func filter(
    _ key: String, _ comparator: CloudKitFilter.Comparator, _ value: FieldValue
  ) throws(RecordError) -> CloudKitFilter {
    if value == .null {
      throw unsupported(
        "the comparison of the field \(key) with null", advice: "store a value for it")
    }
    if let problem = value.problemInCloudKit ?? CloudKitNames.problem(ofKey: key) {
      throw RecordError(.invalid("the field \(key) is compared with a value that \(problem)"))
    }
    return CloudKitFilter(comparator: comparator, fieldName: key, fieldValue: .value(value))
  }

  /// The values of a list that is not empty.
  private static func checked(
    _ values: [FieldValue], for key: String
  ) throws(RecordError) -> [FieldValue] {
    if values.isEmpty {
      throw unsupported("isOne(of:) without values for the field \(key)", advice: "do not query")
    }
    return values
  }

  private static func unsupported(_ part: String, advice: String) -> RecordError {
    RecordError(.unsupported("CloudKit cannot evaluate \(part): \(advice)"))
  }
}

extension CloudKitFilter.Comparator {
  fileprivate init(_ comparison: RecordPredicate.Comparison) {
    self =
      switch comparison {
      case .equal: .equals
      case .notEqual: .notEquals
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      }
  }
}
