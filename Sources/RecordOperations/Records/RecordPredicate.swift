/// A condition on records. A ``Field`` creates predicates.
///
/// ```swift
/// import RecordOperations
///
/// let predicate = Field("pages") > 500 && !Field("title").hasPrefix("The ")
/// let query = RecordQuery("Book", where: predicate)
/// ```
public indirect enum RecordPredicate: Hashable, Sendable {
  /// A comparison of two values.
  public enum Comparison: String, Hashable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// Compares a field with a value.
  case comparison(String, Comparison, FieldValue)
  /// Whether a field has one of these values.
  case isOne(String, of: [FieldValue])
  /// Whether the string in a field has a prefix.
  case hasPrefix(String, String)
  /// Whether the string in a field contains another one.
  case contains(String, String)
  /// Whether the list in a field includes a value.
  case includes(String, FieldValue)
  /// All of these predicates; true if there are none.
  case all([RecordPredicate])
  /// At least one of these predicates; false if there are none.
  case any([RecordPredicate])
  /// The negation of a predicate.
  case not(RecordPredicate)
  /// A predicate that no database can evaluate, and the reason: it compares with a value that no
  /// field can have.
  case impossible(String)

  /// Returns a predicate for records that meet both predicates.
  public static func && (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
    guard case .all(let parts) = one else { return .all([one, other]) }
    return .all(parts + [other])
  }

  /// Returns a predicate for records that meet at least one of the predicates.
  public static func || (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
    guard case .any(let parts) = one else { return .any([one, other]) }
    return .any(parts + [other])
  }

  /// Returns the negation of a predicate.
  public static prefix func ! (predicate: RecordPredicate) -> RecordPredicate { .not(predicate) }

  /// Returns a predicate, or an impossible one if a value cannot be converted.
  ///
  /// - Parameter key: The key of the field.
  static func comparing(
    _ key: String, _ make: () throws -> RecordPredicate
  ) -> RecordPredicate {
    do { return try make() } catch {
      return .impossible(
        "the field \(key) is compared with a value that no field can have: \(error)")
    }
  }
}

extension RecordPredicate {
  /// The keys of the fields that the predicate reads.
  var keys: Set<String> {
    switch self {
    case .comparison(let key, _, _), .isOne(let key, _), .hasPrefix(let key, _),
      .contains(let key, _), .includes(let key, _):
      [key]
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.keys) }
    case .not(let part): part.keys
    case .impossible: []
    }
  }
}

extension RecordPredicate {
  /// The maximum depth of nested predicates.
  static let depth = 40

  /// The reason why no database can evaluate the predicate; `nil` if one can.
  package var impossibility: String? {
    if isDeeper(than: Self.depth) {
      return
        "the predicate is nested more than \(Self.depth) levels deep: combine conditions in one isOne(of:), .all or .any"
    }
    return ownImpossibility
  }

  private func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .all(let parts), .any(let parts):
      depth == 0 || parts.contains { $0.isDeeper(than: depth - 1) }
    case .not(let part): depth == 0 || part.isDeeper(than: depth - 1)
    default: false
    }
  }

  private var ownImpossibility: String? {
    switch self {
    case .comparison(let key, _, let value): Self.impossibility(of: value, for: key)
    case .isOne(let key, let values):
      values.lazy.compactMap { Self.impossibility(of: $0, for: key) }.first
    case .includes(let key, .double(let number)) where number.isNaN:
      Self.impossibility(of: .double(number), for: key)
    case .hasPrefix, .contains, .includes: nil
    case .all(let parts), .any(let parts): parts.lazy.compactMap(\.ownImpossibility).first
    case .not(let part): part.ownImpossibility
    case .impossible(let reason): reason
    }
  }

  private static func impossibility(of value: FieldValue, for key: String) -> String? {
    switch value {
    case .list: "the field \(key) is compared with a list: use includes instead"
    case .double(let number) where number.isNaN:
      "the field \(key) is compared with NaN"
    default: nil
    }
  }

  /// Whether a record meets the predicate.
  package func matches(_ record: DatabaseRecord) -> Bool {
    switch self {
    case .comparison(let key, let comparison, let value): comparison.holds(record[key], value)
    case .isOne(let key, let values): values.contains { record[key].isEquivalent(to: $0) }
    case .hasPrefix(let key, let prefix):
      record[key].text.map { $0.utf8.starts(with: prefix.utf8) } ?? false
    case .contains(let key, let part):
      record[key].text.map { Array($0.utf8).contains(Array(part.utf8)) } ?? false
    case .includes(let key, let value):
      if case .list(let elements) = record[key] {
        elements.contains { $0.isEquivalent(to: value) }
      } else {
        false
      }
    case .all(let parts): parts.allSatisfy { $0.matches(record) }
    case .any(let parts): parts.contains { $0.matches(record) }
    case .not(let part): !part.matches(record)
    case .impossible: false
    }
  }
}

extension RecordPredicate.Comparison {
  fileprivate func holds(_ one: FieldValue, _ other: FieldValue) -> Bool {
    switch self {
    case .equal: one.isEquivalent(to: other)
    case .notEqual: !one.isEquivalent(to: other)
    case .less: one.isLess(than: other) == true
    case .lessOrEqual: other.isLess(than: one) == false
    case .greater: other.isLess(than: one) == true
    case .greaterOrEqual: one.isLess(than: other) == false
    }
  }
}
