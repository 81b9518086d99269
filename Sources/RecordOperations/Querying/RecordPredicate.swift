/// What has to be so of a record that is looked for. ``Field`` makes them.
public indirect enum RecordPredicate: Hashable, Sendable {
  /// How two values are compared.
  public enum Comparison: String, Hashable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  case comparison(String, Comparison, FieldValue)
  case isOne(String, of: [FieldValue])
  case hasPrefix(String, String)
  case contains(String, String)
  case includes(String, FieldValue)
  /// All of them; true for none.
  case all([RecordPredicate])
  /// At least one of them; false for none.
  case any([RecordPredicate])
  case not(RecordPredicate)
  /// One that cannot be asked, and why: it compares with what no field can be.
  case impossible(String)

  public static func && (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
    guard case .all(let parts) = one else { return .all([one, other]) }
    return .all(parts + [other])
  }

  public static func || (one: RecordPredicate, other: RecordPredicate) -> RecordPredicate {
    guard case .any(let parts) = one else { return .any([one, other]) }
    return .any(parts + [other])
  }

  public static prefix func ! (predicate: RecordPredicate) -> RecordPredicate { .not(predicate) }

  /// - Parameter key: The field that is compared.
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
  /// How deep one may be nested in another.
  static let depth = 40

  /// Why it cannot be asked; nil if it can.
  var impossibility: String? {
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

  /// Whether a record is as it says.
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
