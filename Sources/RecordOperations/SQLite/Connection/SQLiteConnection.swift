internal import CSQLite
internal import SystemSupport

/// A connection to a file.
///
/// Belongs to one thread at a time, and is therefore not `Sendable`. A ``SQLiteWorker`` owns it,
/// and passes it to one request after another.
package final class SQLiteConnection {
  package let file: String
  let handle: SQLiteHandle
  /// The cached schema.
  let schema = SQLiteSchemaCache()
  /// Whether the connection is unusable: a rollback failed, or its file may have been removed.
  var hasFailed = false
  /// The identity of the file if this connection has created it.
  let madeFile: FileStatus.Identity?
  private var kept = SQLiteStatementCache()

  /// - Parameter madeFile: The identity of the file if it was created for this connection.
  init(_ handle: SQLiteHandle, making madeFile: FileStatus.Identity? = nil) {
    self.handle = handle
    self.madeFile = madeFile
    file = handle.file
  }

  /// Runs a body with a prepared statement, which is cached.
  ///
  /// - Throws: A ``SQLiteError`` if the SQL is invalid or names something that does not exist; the
  ///   error of the body.
  package func withStatement<Result>(
    _ sql: String, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let entry = try kept.take(sql) { try SQLiteStatement(sql, on: handle, isKept: true) }
    defer {
      // Cleared before it is cached: bound values may be large, and the current row holds a lock.
      entry.statement.clear()
      kept.giveBack(entry)
    }
    return try body(entry.statement)
  }

  /// Prepares a statement for a single, possibly long, use.
  ///
  /// - Throws: A ``SQLiteError`` if the SQL is invalid or names something that does not exist.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    try SQLiteStatement(sql, on: handle, isKept: false)
  }

  /// Runs a statement to completion.
  ///
  /// - Throws: A ``SQLiteError``.
  package func run(_ sql: String, _ values: [SQLiteValue] = []) throws {
    try withStatement(sql) { statement in
      try statement.bind(values)
      try statement.run()
    }
  }

  /// Runs a statement, and maps each row by a body.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
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

  /// Runs a statement, and maps its first row by a body. Returns nil if there is none.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func first<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws -> Row
  ) throws -> Row? {
    try withStatement(sql) { statement in
      try statement.bind(values)
      return try statement.step() ? try body(statement) : nil
    }
  }

  /// The number of rows that the last statement has inserted, changed or deleted, without the
  /// changes of its triggers.
  package var changeCount: Int { Int(unsafe sqlite3_changes64(handle.pointer)) }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle.pointer) == 0 }

  /// Whether deferred foreign keys are violated. SQLite checks them again at the end of the
  /// transaction.
  var hasUnmetReferences: Bool {
    var (count, highest) = (Int32(0), Int32(0))
    let code = unsafe sqlite3_db_status(
      handle.pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return code == SQLITE_OK && count > 0
  }

  /// Whether the connection cannot write the file.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle.pointer, "main") == 1 }

  /// Whether the file stores text in UTF-8.
  var isUTF8: Bool {
    get throws { try first("PRAGMA encoding") { $0.text(at: 0) == "UTF-8" } ?? true }
  }

  /// The maximum number of values that can be bound to a statement.
  var valueLimit: Int { limit(SQLITE_LIMIT_VARIABLE_NUMBER) }

  /// The maximum number of columns of a table or a result.
  var columnLimit: Int { limit(SQLITE_LIMIT_COLUMN) }

  private func limit(_ kind: Int32) -> Int { Int(unsafe sqlite3_limit(handle.pointer, kind, -1)) }

  /// Whether the task of the current request is cancelled.
  package var isCancelled: Bool { handle.isCancelled() }
}
