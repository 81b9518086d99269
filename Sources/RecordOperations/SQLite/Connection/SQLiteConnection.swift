internal import CSQLite
internal import SystemFiles

/// A connection to a file.
///
/// It belongs to one thread at a time, and so is not `Sendable`: ``SQLiteWorker`` has one, and gives it to one request
/// after another.
package final class SQLiteConnection {
  package let file: String
  let handle: SQLiteHandle
  /// What is known of the tables.
  let schema = SQLiteSchemaCache()
  /// Whether it cannot be used any more: it could not leave a transaction, or its file may have been removed.
  var hasFailed = false
  /// The file, if this connection has made it.
  let madeFile: FileStatus.Identity?
  private var kept = SQLiteStatementCache()

  /// - Parameter madeFile: The file, if it was made for this connection.
  init(_ handle: SQLiteHandle, making madeFile: FileStatus.Identity? = nil) {
    self.handle = handle
    self.madeFile = madeFile
    file = handle.file
  }

  /// Gives a prepared statement to a body, and keeps it for the next time.
  ///
  /// - Throws: A ``SQLiteError`` if it is not SQL, or names what is not there; what the body throws.
  package func withStatement<Result>(
    _ sql: String, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let entry = try kept.take(sql) { try SQLiteStatement(sql, on: handle, isKept: true) }
    defer {
      // Before it is kept: what it has bound may be large, and what it stands at holds a lock.
      entry.statement.clear()
      kept.giveBack(entry)
    }
    return try body(entry.statement)
  }

  /// A prepared statement for one use that may be long.
  ///
  /// - Throws: A ``SQLiteError`` if it is not SQL, or names what is not there.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    try SQLiteStatement(sql, on: handle, isKept: false)
  }

  /// Runs a statement to its end.
  ///
  /// - Throws: A ``SQLiteError``.
  package func run(_ sql: String, _ values: [SQLiteValue] = []) throws {
    try withStatement(sql) { statement in
      try statement.bind(values)
      try statement.run()
    }
  }

  /// The rows of a statement, each as a body makes something of it.
  ///
  /// - Throws: A ``SQLiteError``; what the body throws.
  package func rows<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws -> Row
  ) throws -> [Row] {
    try withStatement(sql) { statement in
      try statement.bind(values)
      var rows: [Row] = []
      while try statement.step() { rows.append(try body(statement)) }
      return rows
    }
  }

  /// The first row of a statement; nil if there is none.
  ///
  /// - Throws: A ``SQLiteError``; what the body throws.
  package func first<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws -> Row
  ) throws -> Row? {
    try withStatement(sql) { statement in
      try statement.bind(values)
      return try statement.step() ? try body(statement) : nil
    }
  }

  /// How many rows the last statement has inserted, changed or deleted, those of its triggers not counted.
  package var changeCount: Int { Int(unsafe sqlite3_changes64(handle.pointer)) }

  /// Whether there is a transaction.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle.pointer) == 0 }

  /// Whether there are references that lead nowhere, which is looked at again at the end of the transaction.
  var hasUnmetReferences: Bool {
    var (count, highest) = (Int32(0), Int32(0))
    let code = unsafe sqlite3_db_status(
      handle.pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return code == SQLITE_OK && count > 0
  }

  /// Whether the file cannot be written by it.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle.pointer, "main") == 1 }

  /// Whether texts are UTF-8 in the file.
  var isUTF8: Bool {
    get throws { try first("PRAGMA encoding") { $0.text(at: 0) == "UTF-8" } ?? true }
  }

  /// How many values can be bound to a statement.
  var valueLimit: Int { limit(SQLITE_LIMIT_VARIABLE_NUMBER) }

  /// How many columns a table, or the result of a query, can have.
  var columnLimit: Int { limit(SQLITE_LIMIT_COLUMN) }

  private func limit(_ kind: Int32) -> Int { Int(unsafe sqlite3_limit(handle.pointer, kind, -1)) }

  /// Whether those who wait for what it does have lost interest.
  package var isCancelled: Bool { handle.isCancelled() }
}
