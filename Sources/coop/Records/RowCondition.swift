import RecordOperations

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A condition in the syntax of the command line: `pages>500`.
struct RowCondition: Sendable {
  private enum Relation: String, CaseIterable {
    // Longer operators first, because shorter ones are prefixes of them.
    case notEqual = "!="
    case notEqualAsInSQL = "<>"
    case equalAsInSwift = "=="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case prefix = "^="
    case contains = "*="
    case equal = "="
    case less = "<"
    case greater = ">"

    var comparison: RecordPredicate.Comparison {
      switch self {
      case .equal, .equalAsInSwift, .prefix, .contains: .equal
      case .notEqual, .notEqualAsInSQL: .notEqual
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      }
    }
  }

  private let column: String
  private let relation: Relation
  private let value: String

  /// Nil if the text is not a condition.
  init?(_ text: String) {
    let places = Relation.allCases.compactMap { relation in
      text.firstRange(of: relation.rawValue).map { (relation, $0) }
    }
    // The leftmost operator, and the longest one at that position.
    let first = places.map(\.1.lowerBound).min()
    guard let (relation, range) = places.first(where: { $0.1.lowerBound == first }),
      range.lowerBound > text.startIndex
    else { return nil }
    column = String(text[..<range.lowerBound])
    self.relation = relation
    // A value with spaces at its ends has to be quoted.
    value = String(text[range.upperBound...]).withoutSpaces
  }

  /// Returns the predicate for a table. The column determines the type of the value.
  ///
  /// - Throws: A ``RecordError`` if a number would be compared with texts, character by character.
  func predicate(for columns: [RowColumn]) throws -> RecordPredicate {
    func column(_ name: String) -> RowColumn? { columns.first { $0.name == name } }
    // Spaces around the name are ignored, unless a column has such a name.
    let name = column(self.column) == nil ? self.column.withoutSpaces : self.column
    if let column = column(name), comparesNumberWithTexts(column) {
      throw RecordError(
        .invalid(
          "\(name) is a text column, which sorts \"1200\" before \"500\": quote the value to compare texts"
        ))
    }
    return predicate(for: column(name), named: name)
  }

  /// Returns whether a number would be compared with texts. Equality has the same result for texts.
  private func comparesNumberWithTexts(_ column: RowColumn) -> Bool {
    switch relation {
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      column.isText && column.meaning == .plain && Double(decimal: value) != nil
    case .equal, .equalAsInSwift, .notEqual, .notEqualAsInSQL, .prefix, .contains: false
    }
  }

  private func predicate(for column: RowColumn?, named name: String) -> RecordPredicate {
    switch relation {
    case .prefix: .hasPrefix(name, text)
    case .contains: .contains(name, text)
    case .equal, .equalAsInSwift, .notEqual, .notEqualAsInSQL, .less, .lessOrEqual, .greater,
      .greaterOrEqual:
      .comparison(name, relation.comparison, fieldValue(for: column))
    }
  }

  private var isQuoted: Bool { value.count >= 2 && value.hasPrefix("'") && value.hasSuffix("'") }

  private var text: String { isQuoted ? String(value.dropFirst().dropLast()) : value }

  private func fieldValue(for column: RowColumn?) -> FieldValue {
    if value == "null" { return .null }
    switch column?.meaning {
    case .foreignKey(let type, let rule):
      return .reference(RecordReference(RecordID(type, text), onDelete: rule))
    case .keptReference:
      let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
      if parts.count == 2 { return .reference(RecordReference(RecordID(parts[0], parts[1]))) }
    case .date:
      if let date = Date(importedText: text) { return .date(date) }
    case .plain, nil: break
    }
    guard !isQuoted, column?.isText != true else { return .string(text) }
    if let number = Int64(value) { return .integer(number) }
    return Double(decimal: value).map { .double($0) } ?? .string(value)
  }
}

extension String {
  fileprivate var withoutSpaces: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

/// A column for conditions.
struct RowColumn: Sendable {
  enum Meaning: Hashable, Sendable {
    case plain, date, keptReference
    case foreignKey(type: String, RecordReference.DeleteRule)
  }

  let name: String
  /// Whether its values are stored as text.
  let isText: Bool
  let meaning: Meaning

  init(_ column: SQLiteColumn) {
    name = column.name
    isText = column.affinity == .text
    meaning =
      switch column.meaning {
      case .plain, .list: .plain
      case .date: .date
      case .keptReference: .keptReference
      case .foreignKey(let type, let rule): .foreignKey(type: type, rule)
      }
  }

  init(_ column: ServedColumn) {
    name = column.name
    switch column.meaning {
    case .text, .uuid, .enumeration, .other: (isText, meaning) = (true, .plain)
    case .integer, .boolean, .double, .single, .bytes, .list, .untyped:
      (isText, meaning) = (false, .plain)
    case .date: (isText, meaning) = (false, .date)
    case .keptReference: (isText, meaning) = (true, .keptReference)
    case .foreignKey(let type, let rule, let isInteger):
      (isText, meaning) = (!isInteger, .foreignKey(type: type, rule))
    }
  }
}

/// The query for the rows that the arguments select.
struct RowQuery: Sendable {
  let records: RecordQuery

  init(_ arguments: RecordsArguments, in database: RecordsPlace) async throws {
    let name = arguments.table
    let columns: [RowColumn] =
      switch database {
      case .file(let file):
        try await file.read { try $0.table(name)?.columns.map { RowColumn($0) } ?? [] }
      case .server(let server): try await server.columns(of: name).map { RowColumn($0) }
      }
    let parts = try arguments.conditions.map { try $0.predicate(for: columns) }
    records = RecordQuery(
      name, where: parts.isEmpty ? nil : .all(parts), sortedBy: arguments.order)
  }
}
