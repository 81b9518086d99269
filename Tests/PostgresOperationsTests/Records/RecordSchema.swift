internal import Foundation
internal import PostgresOperations
internal import RecordOperations

/// A new schema for records.
struct RecordSchema {
  let server: PrivateServer
  /// The address of the database.
  let address: String
  let name: String

  /// - Parameter server: Tests of changes have one of their own, because open transactions of other
  ///   tests delay the changes.
  init(on server: PrivateServer = .shared, named name: String? = nil) async throws {
    self.server = server
    try await server.start()
    address = server.address
    self.name = name ?? "test_" + UUID().uuidString.lowercased()
  }

  /// Returns a database with the records of the schema.
  func database(
    at address: String? = nil, limits: RecordLimits = PostgresRecordOptions.defaultLimits,
    connections: Int = 4
  ) -> PostgresRecordDatabase {
    PostgresRecordDatabase(
      address ?? self.address,
      PostgresRecordOptions(schema: name, connections: connections, limits: limits))
  }

  /// Runs SQL as another program does.
  @discardableResult func query(_ sql: String) async throws -> String {
    try await server.query("set search_path = \"\(name)\"; \(sql)")
  }

  /// Creates the schema with tables of another program.
  func create(_ sql: String) async throws {
    try await server.query("create schema \"\(name)\"")
    try await query(sql)
  }

  /// Returns a connection of another program.
  func connection() throws -> PostgresConnection {
    let connection = try PostgresConnection(to: address, timeout: .seconds(20))
    try connection.execute("SET search_path = \"\(name)\"")
    return connection
  }
}

extension PostgresConnection {
  func execute(_ sql: String) throws {
    _ = try rows(PostgresStatement("another program", sql, isReused: false))
  }
}

extension RecordDatabase {
  @discardableResult
  func save(
    _ records: DatabaseRecord..., policy: SavePolicy = .allKeys
  ) async throws -> [DatabaseRecord] {
    try await modify(RecordBatch(records.map { .save($0, policy) })).map { reply in
      switch reply {
      case .saved(let record): return record
      case .deleted: throw RecordError(.invalid("unexpected reply: deleted"))
      case .failed(let error): throw error
      }
    }
  }

  /// - Throws: The error of the first deletion that fails.
  func delete(_ ids: RecordID...) async throws {
    let replies = try await modify(RecordBatch(ids.map { .delete($0, ifTagged: nil) }))
    if let error = replies.lazy.compactMap(\.error).first { throw error }
  }

  func record(_ type: String, _ name: String) async throws -> DatabaseRecord? {
    let id = RecordID(type, name)
    return try await lookup([id], keys: nil)[id]
  }

  func names(_ query: RecordQuery) async throws -> [String] {
    try await self.query(query, after: nil, atMost: 1_000).records.map(\.id.name)
  }

  /// Fetches all changes.
  func allChanges(since token: ChangeToken?) async throws -> ChangePage {
    var all = try await changes(since: token, in: .default)
    while all.hasMore {
      let next = try await changes(since: all.token, in: .default)
      all.changed += next.changed
      all.deleted += next.deleted
      (all.token, all.hasMore) = (next.token, next.hasMore)
    }
    return all
  }
}

extension RecordReply {
  var error: RecordError? { if case .failed(let error) = self { error } else { nil } }
}

/// Returns a record that has never been saved.
func record(
  _ type: String, _ name: String, _ fields: [String: FieldValue] = [:]
) -> DatabaseRecord {
  var record = DatabaseRecord(type, name)
  for (key, value) in fields { record[key] = value }
  return record
}

/// Returns the error that a body throws.
func recordError(_ body: () async throws -> Void) async -> RecordError? {
  do { try await body() } catch { return error as? RecordError }
  return nil
}
