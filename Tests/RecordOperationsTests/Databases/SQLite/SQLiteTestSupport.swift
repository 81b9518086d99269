import RecordOperations
import SQLiteSupport

/// A connection without the settings of this package, like a connection of another program.
func otherConnection(_ path: String) throws -> SQLiteConnection {
  let connection = try SQLiteConnection.open(path, for: .writing, SQLiteConfiguration())
  try connection.execute("PRAGMA recursive_triggers = OFF")
  try connection.execute("PRAGMA foreign_keys = OFF")
  return connection
}

/// Runs statements on a new connection, and closes it.
func execute(_ statements: [String], in path: String) throws {
  let connection = try otherConnection(path)
  for sql in statements { try connection.execute(sql) }
}

extension SQLiteRecordDatabase {
  /// Saves a record, and returns the code and the text of the error.
  func refusal(
    of record: DatabaseRecord, policy: SavePolicy = .ifUnchanged
  ) async -> (code: String, text: String) {
    await failure { try await save(record, policy: policy) }
  }

  func delete(_ id: RecordID, ifTagged tag: RecordTag? = nil) async throws -> RecordReply {
    try await modify(RecordBatch([.delete(id, ifTagged: tag)]))[0]
  }

  /// All changes since a token, page by page.
  func allChanges(since token: ChangeToken?) async throws -> ChangePage {
    var all = try await changes(since: token, in: .default)
    while all.hasMore {
      let page = try await changes(since: all.token, in: .default)
      all = ChangePage(
        changed: all.changed + page.changed, deleted: all.deleted + page.deleted,
        token: page.token, hasMore: page.hasMore)
    }
    return all
  }
}

extension RecordReply {
  /// The kind of the reply, for tables of expectations.
  var code: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .failed(let error): error.name
    }
  }
}

/// The code and the text of the error that a body throws.
func failure(_ body: () async throws -> Void) async -> (code: String, text: String) {
  do {
    try await body()
    return ("none", "")
  } catch let error as RecordError {
    return (error.name, "\(error)")
  } catch {
    return ("\(type(of: error))", "\(error)")
  }
}
