internal import SQLiteSupport

/// The table of an import, in a SQLite file.
final class SQLiteImportTarget: ImportTarget {
  private let type: String
  private let access: SQLiteOptions.Access
  private let connection: SQLiteConnection
  /// Whether the table has a conflict clause of its own; nil until it is looked up.
  private var hasConflictClause: Bool?

  init(_ type: String, _ access: SQLiteOptions.Access, on connection: SQLiteConnection) {
    (self.type, self.access, self.connection) = (type, access, connection)
  }

  func check() throws { if connection.isCancelled { throw CancellationError() } }

  func transaction<Response>(_ body: () throws -> Response) throws -> Response {
    try connection.transaction(.immediate, body)
  }

  func table() throws -> SQLiteTable? {
    guard let table = try connection.table(type) else {
      if access == .create { return nil }
      let names = try connection.tables().joined(separator: ", ")
      throw RecordError(
        .invalid(
          "no such table: \(type) (tables: \(names.isEmpty ? "none" : names))"))
    }
    guard table.kind != .view else { throw RecordError.view(table.name) }
    return table
  }

  func table(creating fields: [(key: String, value: FieldValue)]) throws -> SQLiteTable {
    // If a column cannot be created, the columns before it are rolled back.
    try connection.savepoint { try connection.table(toSave: fields, as: type) }
  }

  func plan(
    for columns: [String], of table: SQLiteTable, references: [String: String],
    existing: ExistingRowPolicy
  ) throws -> SQLiteImportPlan {
    let columns = try columns.map { name in
      guard let column = table.column(named: name) else { throw table.missing(name) }
      return try SQLiteImportColumn(column, of: table, referencesTo: references[name])
    }
    let hasConflictClause =
      try self.hasConflictClause ?? connection.hasConflictClause(table.name)
    self.hasConflictClause = hasConflictClause
    return try SQLiteImportPlan(
      table, columns, existing, hasConflictClause: hasConflictClause, on: connection)
  }

  /// The plans collect no rows.
  func insertCollected(_ problems: inout [RowProblem]) -> Int { 0 }

  /// SQLite does not name violated foreign keys.
  func checkDeferredConstraints() throws {
    guard connection.hasDeferredViolations else { return }
    let found = try connection.fetchAll(
      """
      SELECT count(DISTINCT c.rowid), l."from", c.parent FROM pragma_foreign_key_check(?1) AS c \
      JOIN pragma_foreign_key_list(?1) AS l ON l.id = c.fkid GROUP BY c.fkid, l.seq
      """, [.text(type)]
    ) { row in
      let (column, parent) = (row.text(at: 1) ?? "", row.text(at: 2) ?? "")
      return "\(max(1, row.integer(at: 0))) in \(column) to \(parent)"
    }
    // The violation may be in another table, into which a trigger has inserted rows.
    guard !found.isEmpty else { return }
    throw RecordError(
      .invalid(
        """
        foreign key violation at the end of the transaction: rows of \(type) refer to rows that do \
        not exist: \(found.joined(separator: ", "))
        """
      ))
  }

  func folded(_ name: String) -> [UInt8] { SQLiteName.folded(name) }

  func rejection(_ error: any Error) -> String? {
    switch error {
    case let rejection as ImportRejection: rejection.text
    case let error as SQLiteError where error.kind == .invalidName: error.description
    case let error as RecordError: if case .invalid(let text) = error.reason { text } else { nil }
    default: nil
    }
  }

  func translated(_ error: any Error) -> any Error { (error as? SQLiteError)?.translated ?? error }
}

extension SQLiteTable: ImportTable {
  var writableColumns: [String] { columns.filter(\.isWritable).map(\.name) }

  func hasColumn(_ name: String) -> Bool { column(named: name) != nil }

  func isUntyped(_ column: String) -> Bool { self.column(named: column)?.isUntyped ?? false }

  func isKeptReference(_ column: String) -> Bool {
    self.column(named: column)?.meaning == .keptReference
  }

  func missing(_ column: String) -> RecordError { missing(column, "") }
}

extension SQLiteConnection {
  /// Returns whether a table has a conflict clause of its own.
  fileprivate func hasConflictClause(_ table: String) throws -> Bool {
    try fetchOne(
      "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%ON%CONFLICT%'", [.text(table)]
    ) { _ in true } ?? false
  }
}
