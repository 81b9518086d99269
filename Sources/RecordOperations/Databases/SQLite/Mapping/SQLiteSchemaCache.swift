internal import SQLiteSupport

/// The schema of a file as a connection has read it, for one schema version.
final class SQLiteSchemaCache: SQLiteTransactionObserver {
  /// A table or view that can hold records.
  struct Entry {
    let name: String
    let kind: SQLiteTable.Kind
    let hasRowID: Bool
  }

  private(set) var version: Int64?
  var entries: [Entry]?
  var tables: [String: SQLiteTable] = [:]
  /// Whether the cache is valid until the end of the transaction: no other connection can change
  /// the schema that the transaction sees.
  private(set) var isCurrent = false
  private var hasChanged = false

  /// Clears the cache if it is of another version.
  ///
  /// - Parameter isInTransaction: Whether the version was read in a transaction.
  func use(_ version: Int64, isInTransaction: Bool) {
    if self.version != version {
      // The new version may be an uncommitted change of this connection.
      changed()
      self.version = version
    }
    isCurrent = isInTransaction
  }

  /// Called after this connection has created or changed a table.
  func changed() {
    hasChanged = true
    forget()
  }

  /// Clears the cache if the transaction has changed the schema. Other changes will reuse the
  /// numbers of the versions that were rolled back.
  func transactionRolledBack() {
    isCurrent = false
    if hasChanged { forget() }
  }

  func transactionCommitted() { (isCurrent, hasChanged) = (false, false) }

  private func forget() {
    (version, isCurrent) = (nil, false)
    entries = nil
    tables = [:]
  }
}

extension SQLiteConnection {
  /// The cached schema.
  var schema: SQLiteSchemaCache {
    if let cache = transactionObserver as? SQLiteSchemaCache { return cache }
    let cache = SQLiteSchemaCache()
    transactionObserver = cache
    return cache
  }
}
