/// A database that can describe the tables of its records without their rows.
package protocol TableDescribing: RecordDatabase {
  /// Returns the tables of some types. A type without a table is left out.
  ///
  /// - Returns: Nil if the database knows nothing of its tables.
  /// - Throws: A ``RecordError`` if the request fails; `CancellationError`.
  func descriptions(of types: [String]) async throws -> [String: TableDescription]?
}

/// A table of records, as it is now.
package struct TableDescription: Hashable, Sendable {
  /// The names of its columns, each with its type.
  package let columns: Set<String>
  /// Whether the changes of its rows are tracked.
  package let isTracked: Bool

  /// - Parameter columns: The names and the types of the columns.
  package init(columns: some Sequence<(name: String, type: String)>, isTracked: Bool) {
    self.columns = Set(columns.map { "\($0.name) \($0.type)" })
    self.isTracked = isTracked
  }
}

extension SQLiteRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    try await read { connection in
      var found: [String: TableDescription] = [:]
      for type in types {
        guard let table = try connection.table(type) else { continue }
        found[type] = TableDescription(
          columns: table.columns.map { ($0.name, $0.declaredType) }, isTracked: table.isTracked)
      }
      return found
    }
  }
}

extension FaultyRecordDatabase: TableDescribing {
  package func descriptions(of types: [String]) async throws -> [String: TableDescription]? {
    try await (base as? any TableDescribing)?.descriptions(of: types)
  }
}
