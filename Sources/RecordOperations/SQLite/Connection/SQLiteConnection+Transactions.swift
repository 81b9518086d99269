extension SQLiteConnection {
  /// The kind of a transaction.
  package enum Transaction: String, Sendable {
    /// Sees the database as it is at the first read, whatever others write meanwhile.
    case reading = "BEGIN DEFERRED"
    /// Excludes other writers from its beginning to its end.
    case writing = "BEGIN IMMEDIATE"
  }

  /// Runs a body in a transaction, and rolls back if the body throws.
  ///
  /// - Throws: A ``SQLiteError`` if the transaction cannot begin or commit; the error of the body.
  package func transaction<Result>(
    _ kind: Transaction, _ body: () throws -> Result
  ) throws -> Result {
    try run(kind.rawValue)
    do {
      let result = try body()
      try run("COMMIT")
      schema.committed()
      return result
    } catch {
      rollBack("ROLLBACK")
      hasFailed = isInTransaction
      throw error
    }
  }

  /// Runs a body in a savepoint of the transaction, and rolls its changes back if it throws.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    try run("SAVEPOINT \"item\"")
    do {
      let result = try body()
      try run("RELEASE \"item\"")
      return result
    } catch {
      rollBack("ROLLBACK TO \"item\"")
      rollBack("RELEASE \"item\"")
      throw error
    }
  }

  /// Runs a statement that rolls back, even if the task is cancelled.
  func rollBack(_ sql: String) {
    schema.rolledBack()
    // A cancelled task has to leave the transaction, too.
    uninterrupted {
      // SQLite itself rolls back after a full disk or an interruption.
      guard isInTransaction else { return }
      // This fails if the file cannot be read any more. The next statement reports that.
      try? run(sql)
    }
  }

  /// Runs a body whose statements ignore cancellation.
  func uninterrupted(_ body: () -> Void) {
    let isCancelled = handle.isCancelled
    handle.isCancelled = { false }
    defer { handle.isCancelled = isCancelled }
    body()
  }

  /// Runs a body whose statements fail at once if another connection has locked the file.
  func withoutWaiting(_ body: () -> Void) {
    handle.waitsForLocks = false
    defer { handle.waitsForLocks = true }
    body()
  }
}
