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
  /// Nil if it cannot be read.
  let rowCount: Int?
  let columns: [Column]
  /// Why it cannot be read; nil if it can.
  let problem: String?
}

/// Looks which tables there are, and what is in them.
struct ListTables: ComposableOperation {
  let database: SQLiteRecordDatabase

  init(in database: SQLiteRecordDatabase) { self.database = database }

  var operationName: String { "tables" }

  func perform(in context: OperationContext) async throws -> [TableDescription] {
    try await database.read { connection in
      try connection.tables().map { name in
        var columns: [TableDescription.Column] = []
        var (count, problem): (Int?, String?) = (nil, nil)
        do {
          columns = try Self.columns(of: name, connection)
          count = try Self.count(name, connection)
        } catch let error as SQLiteError {
          // A view of a table that is gone keeps nobody from seeing the others.
          guard let text = Self.problem(error) else { throw error }
          problem = text
        }
        return TableDescription(
          name: name, kind: try Self.kind(of: name, connection), rowCount: count, columns: columns,
          problem: problem)
      }
    }
  }

  /// How many rows there are. Those of a view may take long, or never end: nil if they are many.
  private static func count(_ name: String, _ connection: SQLiteConnection) throws -> Int? {
    let table = try SQLiteName.quoted(name)
    guard try connection.table(name)?.kind == .view else {
      return try connection.first("SELECT count(*) FROM \(table)") { Int($0.integer(at: 0)) }
    }
    let most = 100_000
    let rows = "SELECT 1 FROM \(table) LIMIT \(most + 1)"
    let count = try connection.first("SELECT count(*) FROM (\(rows))") { Int($0.integer(at: 0)) }
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
    return try connection.first(sql, [.text(name)]) { $0.text(at: 0) ?? "" } ?? ""
  }

  /// What is wrong with one table; nil if it is the file or the run that something is wrong with.
  private static func problem(_ error: SQLiteError) -> String? {
    guard let reason = (error.translated as? RecordError)?.reason else { return nil }
    return switch reason {
    case .notPermitted(let text): text
    case .invalid: error.message
    case .unavailable, .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed,
      .unsupported, .replyLost, .tokenExpired, .storage, .other:
      nil
    }
  }
}
