extension SQLiteConnection {
  /// How a transaction begins.
  package enum Transaction: String, Sendable {
    /// It sees the database as it is at its first look, whatever others save meanwhile.
    case reading = "BEGIN DEFERRED"
    /// Nobody else writes from its beginning to its end.
    case writing = "BEGIN IMMEDIATE"
  }

  /// Runs a body in a transaction, which is rolled back if it throws.
  ///
  /// - Throws: A ``SQLiteError`` if it does not begin or cannot be committed; what the body throws.
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

  /// Runs a body within the transaction so that what it does is undone if it throws.
  ///
  /// - Throws: A ``SQLiteError``; what the body throws.
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

  /// Undoes something, whether the task is cancelled or not.
  func rollBack(_ sql: String) {
    schema.rolledBack()
    // Whoever is cancelled still has to leave the transaction.
    uninterrupted {
      // SQLite itself rolls back a transaction after a full disk or an interruption.
      guard isInTransaction else { return }
      // It fails if the file cannot be read any more; then the next statement says so.
      try? run(sql)
    }
  }

  /// Runs a body whose statements a cancellation does not end.
  func uninterrupted(_ body: () -> Void) {
    let isCancelled = handle.isCancelled
    handle.isCancelled = { false }
    defer { handle.isCancelled = isCancelled }
    body()
  }

  /// Runs a body whose statements fail at once where another connection has locked the file.
  func withoutWaiting(_ body: () -> Void) {
    handle.waitsForLocks = false
    defer { handle.waitsForLocks = true }
    body()
  }
}
