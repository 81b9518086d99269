internal import CSQLite
internal import SystemSupport

/// A connection to a file.
///
/// Belongs to one thread at a time, and is therefore not `Sendable`. A ``SQLiteWorker`` owns it,
/// and passes it to one request after another.
///
/// ```text
/// let connection = try SQLiteConnection.open("flows.sqlite", for: .writing, configuration)
/// try connection.transaction(.immediate) {
///   try connection.execute("INSERT INTO run VALUES (?1, ?2)", [.text(id), .integer(7)])
/// }
/// let count = try connection.fetchOne("SELECT count(*) FROM run") { $0.integer(at: 0) }
/// ```
package final class SQLiteConnection {
  /// The path of the file.
  package let file: String
  let handle: SQLiteHandle
  /// Notified of the transactions. The connection retains it.
  package var transactionObserver: (any SQLiteTransactionObserver)?
  /// Whether the connection is unusable: a rollback failed, or its file may have been removed.
  package internal(set) var isUnusable = false
  /// The identity of the file if this connection has created it.
  let createdFile: FileStatus.Identity?
  private var statements = SQLiteStatementCache()

  /// - Parameter createdFile: The identity of the file if it was created for this connection.
  init(_ handle: SQLiteHandle, creating createdFile: FileStatus.Identity? = nil) {
    self.handle = handle
    self.createdFile = createdFile
    file = handle.file
  }

  // MARK: Statements

  /// Runs a body with a prepared statement, which is cached.
  ///
  /// - Throws: A ``SQLiteError`` if the SQL is invalid or names something that does not exist; the
  ///   error of the body.
  package func withCachedStatement<Result>(
    _ sql: String, _ body: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    let entry = try statements.checkOut(sql) {
      try SQLiteStatement(sql, on: handle, isCached: true)
    }
    defer {
      // Cleared before it is cached: bound values may be large, and the current row holds a lock.
      entry.statement.clear()
      statements.checkIn(entry)
    }
    return try body(entry.statement)
  }

  /// Prepares a statement for a single, possibly long, use.
  ///
  /// - Throws: A ``SQLiteError`` if the SQL is invalid or names something that does not exist.
  package func makeStatement(_ sql: String) throws -> SQLiteStatement {
    try SQLiteStatement(sql, on: handle, isCached: false)
  }

  /// Runs a cached statement to completion.
  ///
  /// - Throws: A ``SQLiteError``.
  package func execute(_ sql: String, _ values: [SQLiteValue] = []) throws {
    try withCachedStatement(sql) { statement in
      try statement.bind(values)
      try statement.run()
    }
  }

  /// Runs a cached statement, and maps each row by a body.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func fetchAll<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws -> Row
  ) throws -> [Row] {
    try withCachedStatement(sql) { statement in
      try statement.bind(values)
      var rows: [Row] = []
      while try statement.step() { rows.append(try body(statement)) }
      return rows
    }
  }

  /// Runs a cached statement, and maps its first row by a body. Returns nil if there is none.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func fetchOne<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteStatement) throws -> Row
  ) throws -> Row? {
    try withCachedStatement(sql) { statement in
      try statement.bind(values)
      return try statement.step() ? try body(statement) : nil
    }
  }

  // MARK: State

  /// The number of rows that the last statement has inserted, changed or deleted, without the
  /// changes of its triggers.
  package var changeCount: Int { Int(unsafe sqlite3_changes64(handle.pointer)) }

  /// The row ID of the last row that this connection has inserted.
  package var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle.pointer) }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle.pointer) == 0 }

  /// Whether deferred foreign keys are violated. SQLite checks them again at the end of the
  /// transaction.
  package var hasDeferredViolations: Bool {
    var (count, highest) = (Int32(0), Int32(0))
    let code = unsafe sqlite3_db_status(
      handle.pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return code == SQLITE_OK && count > 0
  }

  /// Whether the task of the current request is cancelled.
  package var isCancelled: Bool { handle.isCancelled() }

  /// A number that changes when another connection commits a change to the file.
  ///
  /// - Throws: A ``SQLiteError``.
  package var dataVersion: Int64 {
    get throws { try fetchOne("PRAGMA data_version") { $0.integer(at: 0) } ?? 0 }
  }

  // MARK: Properties of the file

  /// Whether the connection cannot write the file.
  package var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle.pointer, "main") == 1 }

  /// Whether the file no longer has the name under which it was opened, or another file has it.
  package var hasMoved: Bool { unsafe composite_sqlite_has_moved(handle.pointer) != 0 }

  /// Whether the file is in WAL mode.
  package var isInWALMode: Bool { handle.isInWALMode }

  /// Whether the file stores text in UTF-8.
  package var isUTF8: Bool {
    get throws { try fetchOne("PRAGMA encoding") { $0.text(at: 0) == "UTF-8" } ?? true }
  }

  /// The maximum number of values that can be bound to a statement.
  package var parameterLimit: Int { limit(SQLITE_LIMIT_VARIABLE_NUMBER) }

  /// The maximum number of columns of a table or a result.
  package var columnLimit: Int { limit(SQLITE_LIMIT_COLUMN) }

  private func limit(_ kind: Int32) -> Int { Int(unsafe sqlite3_limit(handle.pointer, kind, -1)) }

  /// Returns the name of the collation of a column, in upper case: "BINARY" unless it is declared
  /// otherwise.
  package func collation(ofColumn column: String, in table: String) -> String {
    var name: UnsafePointer<CChar>?
    let code = unsafe sqlite3_table_column_metadata(
      handle.pointer, "main", table, column, nil, &name, nil, nil, nil)
    guard code == SQLITE_OK, let name = unsafe name else { return "BINARY" }
    return unsafe String(cString: name).uppercased()
  }
}
