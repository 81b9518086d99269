/// What a connection knows of the tables of its file, as long as they stay as they are.
final class SQLiteSchemaCache {
  /// Names, kinds and so on of everything that is a table for records.
  struct Entry {
    let name: String
    let kind: SQLiteTable.Kind
    let hasRowID: Bool
  }

  private(set) var version: Int64?
  var entries: [Entry]?
  var tables: [String: SQLiteTable] = [:]
  private var hasChanged = false

  /// Forgets everything if it is not of that version.
  func use(_ version: Int64) {
    guard self.version != version else { return }
    // It may be one that this connection is just making.
    changed()
    self.version = version
  }

  /// A table was made or changed by this connection.
  func changed() {
    hasChanged = true
    forget()
  }

  /// The versions since the last change are there no more, and will be there again with other tables.
  func rolledBack() {
    if hasChanged { forget() }
  }

  func committed() { hasChanged = false }

  private func forget() {
    version = nil
    entries = nil
    tables = [:]
  }
}
