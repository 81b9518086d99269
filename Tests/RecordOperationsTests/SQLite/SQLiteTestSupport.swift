import RecordOperations

/// A connection that knows nothing of records: as another program has it.
func otherConnection(_ path: String) throws -> SQLiteConnection {
  let connection = try SQLiteConnection.open(path, for: .writing, SQLiteOptions())
  try connection.run("PRAGMA recursive_triggers = OFF")
  try connection.run("PRAGMA foreign_keys = OFF")
  return connection
}

/// Runs statements on a connection of its own, which is closed then.
func execute(_ statements: [String], in path: String) throws {
  let connection = try otherConnection(path)
  for sql in statements { try connection.run(sql) }
}

extension SQLiteRecordDatabase {
  /// The word for the error by which a record is not saved, and what it says.
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
  /// What it says, in a word or two, for tables of expectations.
  var code: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .failed(let error): error.name
    }
  }
}

/// The word for the error that a body throws, and what it says.
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
