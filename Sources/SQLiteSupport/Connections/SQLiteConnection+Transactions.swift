/// An object that is notified of the transactions of a connection, such as a cache.
package protocol SQLiteTransactionObserver: AnyObject {
  /// The changes of the transaction were committed.
  func transactionCommitted()

  /// Changes were rolled back: those of the transaction, or of a savepoint in it.
  func transactionRolledBack()
}

extension SQLiteConnection {
  /// The kind of a transaction.
  package enum TransactionKind: String, Sendable {
    /// Sees the database as it is at the first read, whatever others write meanwhile.
    case deferred = "BEGIN DEFERRED"
    /// Excludes other writers from its beginning to its end.
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs a body in a transaction, and rolls back if the body throws.
  ///
  /// - Throws: A ``SQLiteError`` if the transaction cannot begin or commit; the error of the body.
  package func transaction<Result>(
    _ kind: TransactionKind, _ body: () throws -> Result
  ) throws -> Result {
    try begin(kind)
    do {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      isUnusable = isInTransaction
      throw error
    }
  }

  /// Runs a body in a savepoint of the transaction, and rolls its changes back if it throws.
  ///
  /// - Throws: A ``SQLiteError``; the error of the body.
  package func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    try beginSavepoint("item")
    do {
      let result = try body()
      try releaseSavepoint("item")
      return result
    } catch {
      rollBackSavepoint("item")
      throw error
    }
  }

  // MARK: Steps of a transaction

  /// Begins a transaction.
  ///
  /// - Throws: A ``SQLiteError``.
  package func begin(_ kind: TransactionKind) throws { try execute(kind.rawValue) }

  /// Commits the transaction.
  ///
  /// - Throws: A ``SQLiteError``. The transaction may still be open.
  package func commit() throws {
    try execute("COMMIT")
    transactionObserver?.transactionCommitted()
  }

  /// Rolls the transaction back, even if the task is cancelled.
  package func rollBack() { rollBack("ROLLBACK") }

  /// Begins a savepoint. Outside of a transaction, it would begin one.
  ///
  /// - Throws: A ``SQLiteError``.
  package func beginSavepoint(_ name: String) throws { try execute("SAVEPOINT \"\(name)\"") }

  /// Ends a savepoint, and keeps its changes in the transaction.
  ///
  /// - Throws: A ``SQLiteError``.
  package func releaseSavepoint(_ name: String) throws { try execute("RELEASE \"\(name)\"") }

  /// Rolls the changes of a savepoint back, and ends it, even if the task is cancelled.
  package func rollBackSavepoint(_ name: String) {
    rollBack("ROLLBACK TO \"\(name)\"")
    rollBack("RELEASE \"\(name)\"")
  }

  private func rollBack(_ sql: String) {
    transactionObserver?.transactionRolledBack()
    // A cancelled task has to leave the transaction, too.
    ignoringCancellation {
      // SQLite itself rolls back after a full disk or an interruption.
      guard isInTransaction else { return }
      // This fails if the file cannot be read any more. The next statement reports that.
      try? execute(sql)
    }
  }

  // MARK: Locks and cancellation

  /// Runs a body whose statements ignore cancellation.
  package func ignoringCancellation(_ body: () -> Void) {
    let isCancelled = handle.isCancelled
    handle.isCancelled = { false }
    defer { handle.isCancelled = isCancelled }
    body()
  }

  /// Runs a body whose statements fail immediately if another connection has locked the file.
  func withoutWaiting(_ body: () -> Void) {
    handle.waitsForLocks = false
    defer { handle.waitsForLocks = true }
    body()
  }
}
