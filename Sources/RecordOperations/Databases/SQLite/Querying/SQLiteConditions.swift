internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Translates predicates into SQL conditions, and collects the bound values.
///
/// A condition may be null where it does not hold. `AND` and `OR` preserve this, and a negation
/// uses `IS NOT TRUE`. So the result has two values, like ``RecordPredicate``.
struct SQLiteConditions {
  let table: SQLiteTable
  private(set) var values: [SQLiteValue] = []
  /// Whether text is compared with < or >.
  private var ordersTexts = false

  init(_ table: SQLiteTable) { self.table = table }

  /// Adds a value, and returns its parameter.
  mutating func bind(_ value: SQLiteValue) -> String {
    values.append(value)
    return "?\(values.count)"
  }

  /// Checks that the file can run the conditions in an order.
  ///
  /// - Throws: A ``RecordError`` if there are more values than a statement can have, or if the file
  ///   sorts text differently.
  func check(for connection: SQLiteConnection, _ order: SQLiteOrder) throws {
    if ordersTexts || order.ordersTexts, try !connection.isUTF8 {
      throw RecordError(
        .unsupported(
          """
          \(connection.file) stores text in UTF-16, which has a different order: its text cannot \
          be sorted, compared with < or >, or matched by prefix
          """
        ))
    }
    let limit = connection.parameterLimit
    if values.count > limit {
      throw RecordError(
        .invalid("the query compares with \(values.count) values; at most \(limit) are allowed"))
    }
  }

  /// Returns the SQL condition for a predicate.
  ///
  /// - Throws: A ``RecordError`` if the table has no column for a key, or if the predicate is
  ///   invalid.
  mutating func condition(_ predicate: RecordPredicate) throws -> String {
    switch predicate {
    case .comparison(let key, let comparison, let value):
      return try condition(key, comparison, value)
    case .isOne(let key, let values): return try condition(key, isOneOf: values)
    case .hasPrefix(let key, let prefix): return try condition(key, hasPrefix: prefix)
    case .contains(let key, let part):
      guard let operand = SQLiteOperand(try table.queriedColumn(key), try name(key), .string(part))
      else {
        return "0"
      }
      return "(\(operand.condition) AND instr(\(try name(key)), \(bind(.text(part)))) > 0)"
    case .includes(let key, let value): return try condition(key, includes: value)
    case .all(let parts): return joined(try parts.map { try condition($0) }, "AND", none: "1")
    case .any(let parts): return joined(try parts.map { try condition($0) }, "OR", none: "0")
    case .not(let part): return "(\(try condition(part))) IS NOT TRUE"
    case .impossible(let reason): throw RecordError(.invalid(reason))
    }
  }

  private func name(_ key: String) throws -> String {
    "t.\(try table.queriedColumn(key).quoted)"
  }

  private mutating func condition(
    _ key: String, _ comparison: RecordPredicate.Comparison, _ value: FieldValue
  ) throws -> String {
    let (column, name) = (try table.queriedColumn(key), try name(key))
    if value == .null {
      switch comparison {
      case .equal: return "\(name) IS NULL"
      case .notEqual: return "\(name) IS NOT NULL"
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return "0"
      }
    }
    guard let operand = SQLiteOperand(column, name, value) else {
      return comparison == .notEqual ? "1" : "0"
    }
    switch (comparison, value) {
    case (.equal, _), (.notEqual, _), (_, .integer), (_, .double), (_, .bytes): break
    default: ordersTexts = true
    }
    switch comparison {
    case .equal: return equality(operand)
    case .notEqual: return "(\(equality(operand))) IS NOT TRUE"
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      let terms = operand.orderTerms ?? operand.terms
      return "(\(operand.condition) AND \(order(terms[...], comparison.rawValue)))"
    }
  }

  private mutating func equality(_ operand: SQLiteOperand) -> String {
    let parts = operand.equalityTerms.map { "\($0.expression) = \(bind($0.value))" }
    return joined(
      operand.equalityImpliesCondition ? parts : [operand.condition] + parts, "AND", none: "1")
  }

  private mutating func order(
    _ terms: ArraySlice<(expression: String, value: SQLiteValue)>, _ sign: String
  ) -> String {
    guard let first = terms.first else { return "1" }
    let place = bind(first.value)
    if terms.count == 1 { return "\(first.expression) \(sign) \(place)" }
    let rest = order(terms.dropFirst(), sign)
    let strict = sign.prefix(1)
    return "(\(first.expression) \(strict) \(place) OR \(first.expression) = \(place) AND \(rest))"
  }

  private mutating func condition(_ key: String, isOneOf values: [FieldValue]) throws -> String {
    let (column, name) = (try table.queriedColumn(key), try name(key))
    var groups: [String: [String]] = [:]
    var parts: [String] = []
    for value in values {
      if value == .null {
        parts.append("\(name) IS NULL")
      } else if let operand = SQLiteOperand(column, name, value) {
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
    return joined(parts, "OR", none: "0")
  }

  private mutating func condition(_ key: String, hasPrefix prefix: String) throws -> String {
    guard let operand = SQLiteOperand(try table.queriedColumn(key), try name(key), .string(prefix)),
      let expression = operand.terms.first?.expression
    else { return "0" }
    ordersTexts = true
    let bytes = Array(prefix.utf8)
    guard let last = bytes.last else { return "(\(operand.condition))" }
    // The byte 255 never occurs in UTF-8, so every byte has a successor.
    let end = Array(bytes.dropLast()) + [last + 1]
    return """
      (\(operand.condition) AND \(expression) >= \(bind(.text(prefix))) \
      AND \(expression) < \(bind(.illFormedText(end))))
      """
  }

  private mutating func condition(_ key: String, includes value: FieldValue) throws -> String {
    guard try table.queriedColumn(key).meaning == .list else { return "0" }
    let name = try name(key)
    let texts = try texts(ofElement: value)
    guard !texts.isEmpty else { return "0" }
    let places = texts.map { bind(.text($0)) }.joined(separator: ", ")
    // Elements are compared as JSON text: as values, numbers would be rounded, and text would end
    // at a NUL.
    return """
      CASE WHEN \(SQLiteOperand.isOfMeaning(.list, name)) THEN EXISTS \
      (SELECT 1 FROM json_each(\(name)) AS e WHERE \(name) -> e.fullkey IN (\(places))) ELSE 0 END
      """
  }

  /// Returns the JSON text of all elements that equal the value in a query.
  private func texts(ofElement value: FieldValue) throws -> [String] {
    switch value {
    case .integer(let number):
      let double = Double(exactly: number)?.elementText
      return ["\(number)"] + [double].compactMap(\.self) + (number == 0 ? ["-0.0"] : [])
    case .double(let number):
      guard let whole = Int64(exactly: number) else { return [number.elementText] }
      return try texts(ofElement: .integer(whole))
    // The delete rule of a reference does not affect its equality.
    case .reference(let reference):
      return (try? FieldValue.reference(RecordReference(reference.id)).elementText()).map { [$0] }
        ?? []
    case .date(let date): return Date.texts.contains(date) ? [try value.elementText()] : []
    case .null, .string, .bytes: return [try value.elementText()]
    case .list: return []
    }
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
