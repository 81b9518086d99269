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
  private var hasChanged = false

  /// Clears the cache if it is of another version.
  func use(_ version: Int64) {
    guard self.version != version else { return }
    // The new version may be an uncommitted change of this connection.
    changed()
    self.version = version
  }

  /// Called after this connection has created or changed a table.
  func changed() {
    hasChanged = true
    forget()
  }

  /// Clears the cache if the transaction has changed the schema. Other changes will reuse the
  /// numbers of the versions that were rolled back.
  func transactionRolledBack() {
    if hasChanged { forget() }
  }

  func transactionCommitted() { hasChanged = false }

  private func forget() {
    version = nil
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
