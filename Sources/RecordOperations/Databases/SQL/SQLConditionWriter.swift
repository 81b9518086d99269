/// Translates predicates into SQL conditions, and collects the bound values.
///
/// A condition may be null where it does not hold. `AND` and `OR` preserve this, and a negation
/// uses `IS NOT TRUE`. So the result has two values, like ``RecordPredicate``.
package protocol SQLConditionWriter {
  associatedtype Value

  /// A condition that always holds, and one that never holds, for example `1` and `0`.
  static var constants: (always: String, never: String) { get }

  /// Adds a value, and returns its parameter.
  mutating func bind(_ value: Value) -> String

  /// Returns the expression for a column of the row.
  ///
  /// - Throws: A ``RecordError`` if the table has no column for the key.
  func expression(_ key: String) throws -> String

  /// Returns a column as an operand for a value; nil if the column cannot hold values of that kind.
  ///
  /// - Throws: A ``RecordError`` if the table has no column for the key.
  func operand(_ key: String, _ value: FieldValue) throws -> SQLOperand<Value>?

  /// Called before a column is compared with < or >.
  mutating func willOrder(by value: FieldValue)

  mutating func condition(_ key: String, hasPrefix prefix: String) throws -> String
  mutating func condition(_ key: String, contains part: String) throws -> String
  mutating func condition(_ key: String, includes value: FieldValue) throws -> String
}

extension SQLConditionWriter {
  /// Returns the SQL condition for a predicate.
  ///
  /// - Throws: A ``RecordError`` if the table has no column for a key, or if the predicate is
  ///   invalid.
  package mutating func condition(_ predicate: RecordPredicate) throws -> String {
    switch predicate {
    case .comparison(let key, let comparison, let value):
      return try condition(key, comparison, value)
    case .isOne(let key, let values): return try condition(key, isOneOf: values)
    case .hasPrefix(let key, let prefix): return try condition(key, hasPrefix: prefix)
    case .contains(let key, let part): return try condition(key, contains: part)
    case .includes(let key, let value): return try condition(key, includes: value)
    case .all(let parts):
      return joined(try parts.map { try condition($0) }, "AND", none: Self.constants.always)
    case .any(let parts):
      return joined(try parts.map { try condition($0) }, "OR", none: Self.constants.never)
    case .not(let part): return "(\(try condition(part))) IS NOT TRUE"
    case .impossible(let reason): throw RecordError(.invalid(reason))
    }
  }

  private mutating func condition(
    _ key: String, _ comparison: RecordPredicate.Comparison, _ value: FieldValue
  ) throws -> String {
    let name = try expression(key)
    if value == .null {
      switch comparison {
      case .equal: return "\(name) IS NULL"
      case .notEqual: return "\(name) IS NOT NULL"
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return Self.constants.never
      }
    }
    guard let operand = try operand(key, value) else {
      return comparison == .notEqual ? Self.constants.always : Self.constants.never
    }
    switch comparison {
    case .equal: return equality(operand)
    case .notEqual: return "(\(equality(operand))) IS NOT TRUE"
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      willOrder(by: value)
      let terms = operand.orderTerms ?? operand.terms
      return "(\(operand.condition) AND \(order(terms[...], comparison.rawValue)))"
    }
  }

  private mutating func equality(_ operand: SQLOperand<Value>) -> String {
    let parts = operand.equalityTerms.map { "\($0.expression) = \(bind($0.value))" }
    return joined(
      operand.equalityImpliesCondition ? parts : [operand.condition] + parts, "AND",
      none: Self.constants.always)
  }

  private mutating func order(
    _ terms: ArraySlice<SQLOperand<Value>.Term>, _ sign: String
  ) -> String {
    guard let first = terms.first else { return Self.constants.always }
    let place = bind(first.value)
    if terms.count == 1 { return "\(first.expression) \(sign) \(place)" }
    let rest = order(terms.dropFirst(), sign)
    let strict = sign.prefix(1)
    return "(\(first.expression) \(strict) \(place) OR \(first.expression) = \(place) AND \(rest))"
  }

  private mutating func condition(_ key: String, isOneOf values: [FieldValue]) throws -> String {
    let name = try expression(key)
    var groups: [String: [String]] = [:]
    var parts: [String] = []
    for value in values {
      if value == .null {
        parts.append("\(name) IS NULL")
      } else if let operand = try operand(key, value) {
        if operand.equalityImpliesCondition, operand.equalityTerms.count == 1,
          let term = operand.equalityTerms.first
        {
          groups[term.expression, default: []].append(bind(term.value))
        } else {
          parts.append(equality(operand))
        }
      }
    }
    parts += groups.sorted { $0.key < $1.key }.map {
      "\($0.key) IN (\($0.value.joined(separator: ", ")))"
    }
    return joined(parts, "OR", none: Self.constants.never)
  }

  /// Joins conditions in pairs. In a chain, they would exceed the nesting depth of SQLite.
  private func joined(_ parts: [String], _ word: String, none: String) -> String {
    guard parts.count > 2 else {
      return parts.isEmpty ? none : parts.map { "(\($0))" }.joined(separator: " \(word) ")
    }
    let middle = parts.count / 2
    let halves = [Array(parts[..<middle]), Array(parts[middle...])]
    return halves.map { "(\(joined($0, word, none: none)))" }.joined(separator: " \(word) ")
  }
}
