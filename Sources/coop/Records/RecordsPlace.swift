import RecordOperations

/// A database that an argument names: a SQLite file, or a database at an address.
enum RecordsPlace: Sendable {
  case file(SQLiteRecordDatabase)
  case server(any ServedRecordDatabase)

  static let expected = "a SQLite file, or postgresql://USER@HOST/DATABASE"

  var database: any RecordDatabase {
    switch self {
    case .file(let file): file
    case .server(let server): server
    }
  }

  /// The sorted names of the tables that can be mirrored, and why each other table of a database at
  /// an address cannot. A mirror reports those of a file by itself.
  func mirroredTables() async throws -> (names: [String], problems: [String: String]) {
    switch self {
    case .file(let file): return (try await file.tableNames(), [:])
    case .server(let server):
      let problems = try await server.mirrorProblems()
      return (problems.filter { $0.value == nil }.keys.sorted(), problems.compactMapValues(\.self))
    }
  }

  /// Whether the schema of a database at an address does not exist.
  func isMissing() async throws -> Bool {
    guard case .server(let server) = self else { return false }
    return try await server.identity() == nil
  }

  /// Whether the database has a table, perhaps one that cannot be mirrored.
  func hasTable(_ name: String) async throws -> Bool {
    switch self {
    case .file(let file): return try await file.hasTable(name)
    case .server(let server):
      do {
        _ = try await server.columns(of: name)
        return true
      } catch let error as RecordError {
        guard case .invalid = error.reason else { throw error }
        return false
      }
    }
  }

  func keepChanges(of types: [String]) async throws {
    switch self {
    case .file(let file): try await file.keepChanges(of: types)
    case .server(let server): try await server.keepChanges(of: types)
    }
  }

  func close() async {
    switch self {
    case .file(let file): await file.close()
    case .server(let server): await server.close()
    }
  }
}
