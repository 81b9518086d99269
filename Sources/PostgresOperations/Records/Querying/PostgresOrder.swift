internal import RecordOperations

/// The order of a query, and the start of a page in it.
struct PostgresOrder {
  /// The sort terms. The last ones are a unique key, except for a table without names.
  let terms: [SQLOrderTerm]
  /// The types of the terms.
  private let types: [String]
  /// The number of terms of the key, which are never null.
  private let keyCount: Int

  /// - Throws: A ``RecordError`` if the table has no column for a key, or if a list is a key.
  init(_ order: [RecordOrder], of table: PostgresTable) throws {
    var terms: [(expression: String, type: String, isDescending: Bool)] = []
    for order in order {
      let column = try table.queriedColumn(order.key)
      for (expression, type) in try Self.expressions(of: column) {
        terms.append((expression, type, order.direction == .descending))
      }
    }
    for column in table.key.columns {
      terms.append(("t.\(column.quoted)", column.castType, false))
    }
    self.terms = terms.map {
      SQLOrderTerm(expression: $0.expression, isDescending: $0.isDescending)
    }
    types = terms.map(\.type)
    keyCount = table.key.columns.count
  }

  private static func expressions(
    of column: PostgresColumn
  ) throws -> [(expression: String, type: String)] {
    let name = "t.\(column.quoted)"
    switch column.kind {
    case .integer, .double, .real, .bytes, .date: return [(name, column.castType)]
    case .boolean: return [("\(name)::int", "integer")]
    case .text: return [("\(name) COLLATE \"C\"", "text")]
    case .uuid, .enumeration, .null, .foreignKey, .other:
      return [("(\(column.text)) COLLATE \"C\"", "text")]
    case .keptReference:
      let parts = column.referenceParts
      return [(parts.type, "text"), (parts.name, "text")]
    case .list:
      throw RecordError(.invalid("cannot sort by the field \(column.name), which is a list"))
    }
  }

  /// The order for `ORDER BY`, with null first.
  var sql: String {
    terms.enumerated().map { index, term in
      // With `NULLS FIRST`, the server does not use the index of the key, and sorts all rows for
      // each page.
      if index >= terms.count - keyCount { return term.expression }
      return "\(term.expression) \(term.isDescending ? "DESC NULLS LAST" : "ASC NULLS FIRST")"
    }.joined(separator: ", ")
  }

  /// Returns a condition for the rows after the one whose terms have these values.
  ///
  /// - Throws: A ``RecordError`` if the values do not match the order.
  func isAfter(_ cursor: RecordCursor, in conditions: inout PostgresConditions) throws -> String {
    guard cursor.values.count == terms.count else { throw Self.foreignCursor }
    var values: [(term: SQLOrderTerm, value: PostgresTypedValue?)] = []
    for (index, value) in cursor.values.enumerated() {
      switch value {
      case .null: values.append((terms[index], nil))
      case .string(let text):
        values.append((terms[index], PostgresTypedValue(text: text, type: types[index])))
      case .integer, .double, .bytes, .date, .reference, .list: throw Self.foreignCursor
      }
    }
    return conditions.isAfter(values[...])
  }

  static let foreignCursor = RecordError(.invalid("the cursor belongs to another query"))
}
