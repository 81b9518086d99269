import CompositeOperations
import RecordOperations

/// A table or a view.
struct TableDescription: Sendable, Encodable {
  struct Column: Sendable, Encodable {
    let name: String
    /// As it was declared; empty if there is none.
    let type: String
    let isKey: Bool
  }

  let name: String
  let kind: String
  let rowCount: Int
  let columns: [Column]
}

/// Looks which tables there are, and what is in them.
struct ListTables: ComposableOperation {
  let database: SQLiteRecordDatabase

  init(in database: SQLiteRecordDatabase) { self.database = database }

  func perform(in context: OperationContext) async throws -> [TableDescription] {
    try await database.read { connection in
      try connection.tables().compactMap { name in
        guard let table = try connection.table(name) else { return nil }
        let count = try connection.first("SELECT count(*) FROM \(SQLiteName.quoted(name))") {
          Int($0.integer(at: 0))
        }
        return TableDescription(
          name: name, kind: table.kind.rawValue, rowCount: count ?? 0,
          columns: table.columns.filter { !$0.isHidden }.map {
            TableDescription.Column(
              name: $0.name, type: $0.declaredType, isKey: $0.keyPosition > 0)
          })
      }
    }
  }
}
