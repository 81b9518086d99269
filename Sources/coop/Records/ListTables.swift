import CompositeOperations
import RecordOperations
import SQLiteSupport

/// A table or a view.
struct TableDescription: Sendable, Encodable {
  struct Column: Sendable, Encodable {
    let name: String
    /// The declared type; empty if there is none.
    let type: String
    let isKey: Bool
  }

  let name: String
  let kind: String
  /// Nil if the table cannot be read, or is a view with more than 100,000 rows.
  let rowCount: Int?
  let columns: [Column]
  /// Why the table cannot be read; nil if it can.
  let problem: String?
}

extension TableDescription {
  init(_ table: ServedTable) {
    self.init(
      name: table.name, kind: table.kind, rowCount: table.rowCount,
      columns: table.columns.map {
        Column(name: $0.name, type: $0.declaredType, isKey: $0.isKey)
      }, problem: table.problem)
  }
}

/// An operation that lists the tables, with their columns and row counts.
struct ListTables: ComposableOperation {
  let database: RecordsPlace

  init(in database: RecordsPlace) { self.database = database }

  var operationName: String { "tables" }

  func perform(in context: OperationContext) async throws -> [TableDescription] {
    switch database {
    case .file(let file): return try await tables(of: file)
    case .server(let server):
      let tables = try await server.tables().map { TableDescription($0) }
      if tables.isEmpty, try await database.isMissing() {
        throw RecordError(.invalid("the database has no such schema; name one with --schema"))
      }
      return tables
    }
  }

  private func tables(of file: SQLiteRecordDatabase) async throws -> [TableDescription] {
    try await file.read { connection in
      try connection.tables().map { name in
        var columns: [TableDescription.Column] = []
        var (count, problem): (Int?, String?) = (nil, nil)
        do {
          columns = try Self.columns(of: name, connection)
          count = try Self.count(name, connection)
        } catch let error as SQLiteError {
          // A view of a missing table does not hide the other tables.
          guard let text = Self.problem(error) else { throw error }
          problem = text
        }
        return TableDescription(
          name: name, kind: try Self.kind(of: name, connection), rowCount: count, columns: columns,
          problem: problem)
      }
    }
  }

  /// Returns the number of rows. Counting the rows of a view can take long or never end, so the
  /// result is nil if a view has more than 100,000.
  private static func count(_ name: String, _ connection: SQLiteConnection) throws -> Int? {
    let table = try SQLiteName.quoted(name)
    guard try connection.table(name)?.kind == .view else {
      return try connection.fetchOne("SELECT count(*) FROM \(table)") { Int($0.integer(at: 0)) }
    }
    let most = 100_000
    let rows = "SELECT 1 FROM \(table) LIMIT \(most + 1)"
    let count = try connection.fetchOne("SELECT count(*) FROM (\(rows))") { Int($0.integer(at: 0)) }
    return count.flatMap { $0 > most ? nil : $0 }
  }

  private static func columns(
    of name: String, _ connection: SQLiteConnection
  ) throws -> [TableDescription.Column] {
    let columns = try connection.table(name)?.columns ?? []
    return columns.filter { !$0.isHidden }.map {
      TableDescription.Column(name: $0.name, type: $0.declaredType, isKey: $0.keyPosition > 0)
    }
  }

  private static func kind(of name: String, _ connection: SQLiteConnection) throws -> String {
    let sql = "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?1"
    return try connection.fetchOne(sql, [.text(name)]) { $0.text(at: 0) ?? "" } ?? ""
  }

  /// Returns the problem of a single table; nil if the error concerns the file or the run.
  private static func problem(_ error: SQLiteError) -> String? {
    guard let reason = (error.translated as? RecordError)?.reason else { return nil }
    return switch reason {
    case .notPermitted(let text): text
    case .invalid: error.message
    case .unavailable, .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed,
      .unsupported, .replyLost, .tokenExpired, .otherDatabase, .storage, .other:
      nil
    }
  }
}
