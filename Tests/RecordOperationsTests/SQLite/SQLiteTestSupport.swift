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
  /// The replies to changes each of which is made by itself.
  @discardableResult
  func save(
    _ records: DatabaseRecord..., policy: SavePolicy = .ifUnchanged
  ) async throws -> [DatabaseRecord] {
    let batch = RecordBatch(records.map { .save($0, policy) })
    return try await modify(batch).map { try $0.saved }
  }

  /// The word for the error by which a record is not saved, and what it says.
  func refusal(
    of record: DatabaseRecord, policy: SavePolicy = .ifUnchanged
  ) async -> (word: String, text: String) {
    await failure { try await save(record, policy: policy) }
  }

  func delete(_ id: RecordID, ifTagged tag: RecordTag? = nil) async throws -> RecordReply {
    try await modify(RecordBatch([.delete(id, ifTagged: tag)]))[0]
  }

  /// All records of a query, page by page.
  func all(_ query: RecordQuery, page: Int = 1_000) async throws -> [DatabaseRecord] {
    var records: [DatabaseRecord] = []
    var cursor: RecordCursor?
    repeat {
      let page = try await self.query(query, after: cursor, atMost: page)
      records += page.records
      cursor = page.cursor
    } while cursor != nil
    return records
  }

  func record(_ id: RecordID) async throws -> DatabaseRecord? {
    try await lookup([id], keys: nil)[id]
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
  var saved: DatabaseRecord {
    get throws {
      switch self {
      case .saved(let record): return record
      case .deleted: throw RecordError(.invalid("it is deleted, and not saved"))
      case .failed(let error): throw error
      }
    }
  }

  /// What it says, in a word or two, for tables of expectations.
  var word: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .failed(let error): error.reason.word
    }
  }
}

extension RecordError.Reason {
  var word: String {
    switch self {
    case .conflict: "conflict"
    case .unknownRecord: "unknownRecord"
    case .limitExceeded: "limitExceeded"
    case .referenceViolated: "referenceViolated"
    case .batchFailed: "batchFailed"
    case .invalid: "invalid"
    case .unsupported: "unsupported"
    case .unavailable: "unavailable"
    case .replyLost: "replyLost"
    case .notPermitted: "notPermitted"
    case .tokenExpired: "tokenExpired"
    case .storage: "storage"
    case .other: "other"
    }
  }
}

/// The word for the error that a body throws, and what it says.
func failure(_ body: () async throws -> Void) async -> (word: String, text: String) {
  do {
    try await body()
    return ("none", "")
  } catch let error as RecordError {
    return (error.reason.word, "\(error)")
  } catch {
    return ("\(type(of: error))", "\(error)")
  }
}

/// Numbers that are the same for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
