internal import SQLiteSupport

/// The order of a query, and the start of a page in it.
struct SQLiteOrder {
  /// The sort terms. The last ones are a unique key, except for a view.
  let terms: [SQLOrderTerm]
  /// Whether the query sorts by text. The terms for the unique key do not count.
  let ordersTexts: Bool

  /// - Throws: A ``RecordError`` if the table has no column for a key, or if a list is a key.
  init(_ order: [RecordOrder], of table: SQLiteTable) throws {
    var terms: [SQLOrderTerm] = []
    for order in order {
      let column = try table.queriedColumn(order.key)
      let name = "t.\(column.quoted)"
      let isDescending = order.direction == .descending
      for expression in try Self.expressions(of: column, name) {
        terms.append(SQLOrderTerm(expression: expression, isDescending: isDescending))
      }
    }
    ordersTexts = try order.contains {
      try ![.integer, .real].contains(table.queriedColumn($0.key).affinity)
    }
    let last = try table.uniqueColumns.map { "t.\(try SQLiteName.quoted($0))" }
    self.terms = terms + last.map { SQLOrderTerm(expression: $0, isDescending: false) }
  }

  private static func expressions(of column: SQLiteColumn, _ name: String) throws -> [String] {
    switch column.meaning {
    case .plain, .date: return ["\(name) COLLATE BINARY"]
    case .foreignKey:
      return ["\(column.affinity == .text ? name : "CAST(\(name) AS TEXT)") COLLATE BINARY"]
    case .keptReference:
      let parts = SQLiteOperand.referenceParts(name)
      return [parts.type, parts.name]
    case .list:
      throw RecordError(.invalid("cannot sort by the field \(column.name), which is a list"))
    }
  }

  var sql: String {
    terms.map { $0.expression + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
  }

  /// Returns a condition for the rows after the one whose terms have these values.
  ///
  /// - Throws: A ``RecordError`` if the values do not match the order.
  func isAfter(_ cursor: RecordCursor, in conditions: inout SQLiteConditions) throws -> String {
    let values = cursor.values.compactMap { SQLiteValue(cursorValue: $0) }
    guard values.count == terms.count, cursor.values.count == terms.count else {
      throw RecordError(.invalid("the cursor belongs to another query"))
    }
    return conditions.isAfter(zip(terms, values).map { ($0, $1 == .null ? nil : $1) }[...])
  }
}

extension SQLiteTable {
  /// A unique key that is cheap to sort by; empty for a view.
  fileprivate var uniqueColumns: [String] {
    if case .rowID(let name) = key { return [name] }
    if case .integer(let column, isRowID: true) = key { return [column] }
    if hasRowID, let free = SQLiteKey.rowIDName(beside: columns) { return [free] }
    return key.columns
  }
}

extension SQLiteValue {
  /// The value in a cursor, the inverse of ``init(cursorValue:)``.
  var cursorValue: FieldValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .string(text)
    case .illFormedText(let bytes): .list([.bytes(bytes)])
    case .blob(let bytes): .bytes(bytes)
    }
  }

  /// Creates a value from its form in a cursor; nil if a cursor cannot contain it.
  init?(cursorValue: FieldValue) {
    switch cursorValue {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .bytes(let bytes): self = .blob(bytes)
    case .list(let values):
      guard values.count == 1, case .bytes(let bytes)? = values.first else { return nil }
      self = .illFormedText(bytes)
    case .date, .reference: return nil
    }
  }
}
