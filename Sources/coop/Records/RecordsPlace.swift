import RecordOperations
import SystemSupport

#if canImport(PostgresOperations)
  import PostgresOperations
#endif

/// A database that an argument names: a SQLite file, or a database at an address.
enum RecordsPlace: Sendable {
  case file(SQLiteRecordDatabase)
  case server(any ServedRecordDatabase)

  static let expected = "a SQLite file, or postgresql://USER@HOST/DATABASE"

  /// Names the database at an address.
  ///
  /// - Parameters:
  ///   - schema: The name of the schema; nil for the default one.
  ///   - hinting: Whether streams of hints create what they need in the database.
  ///   - timeout: How long a request waits for an answer; nil for the default.
  /// - Throws: A `RecordError` without the rest of the address, which may have a password.
  init(
    at address: DatabaseAddress, in schema: String?, hinting: Bool = false, timeout: Duration? = nil
  ) throws {
    guard address.isPostgres else {
      throw RecordError(
        .unsupported(
          """
          \(address.scheme)://… is no address of a database of records; expected the path of a SQLite \
          file, or postgresql://USER@HOST/DATABASE
          """))
    }
    #if canImport(PostgresOperations)
      var options = PostgresRecordOptions(hinting: hinting)
      if let schema { options.schema = schema }
      if let timeout { options.timeout = timeout }
      self = .server(PostgresRecordDatabase(address.text, options))
    #else
      throw RecordError(.unsupported(address.missingPostgres))
    #endif
  }

  var database: any RecordDatabase {
    switch self {
    case .file(let file): file
    case .server(let server): server
    }
  }

  /// Why each table cannot be mirrored: nil for each one that can.
  func mirrorProblems() async throws -> [String: String?] {
    switch self {
    case .file(let file): try await file.mirrorProblems()
    case .server(let server): try await server.mirrorProblems()
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
