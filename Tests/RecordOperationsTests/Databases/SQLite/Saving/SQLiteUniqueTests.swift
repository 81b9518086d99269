import RecordOperations
import SQLiteSupport
import Testing

/// Batches of records that take unique values from one another.
@Suite struct SQLiteUniqueTests {
  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase
  private let saved: [DatabaseRecord]

  init() async throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
    try await database.write { connection in
      try connection.execute(
        "CREATE TABLE Book (id TEXT PRIMARY KEY NOT NULL, place INT NOT NULL UNIQUE, code TEXT UNIQUE)"
      )
    }
    saved = try await database.save(
      record("1", ["place": 1, "code": "a"]), record("2", ["place": 2, "code": "b"]),
      record("3", ["place": 3, "code": "c"]), record("4", ["place": 4, "code": "d"]),
      policy: .allKeys)
  }

  /// Saves the places of records, given by number, and returns the replies, and the places of all.
  private func save(
    _ places: KeyValuePairs<Int, Int64>, isAtomic: Bool = false
  ) async throws -> (replies: String, places: [FieldValue]) {
    let changes = places.map { number, place in
      var record = saved[number - 1]
      record["place"] = .integer(place)
      return RecordChange.save(record, .ifUnchanged)
    }
    let replies = try await database.modify(RecordBatch(changes, isAtomic: isAtomic))
    let stored = try await database.all(RecordQuery("Book")).sorted { $0.id.name < $1.id.name }
    let text = replies.map { $0.record.map { "\($0["place"])" } ?? $0.error?.name ?? "" }
    return (text.joined(separator: " "), stored.map { $0["place"] })
  }

  static let table: [(KeyValuePairs<Int, Int64>, String, [FieldValue])] = [
    ([1: 2, 2: 1], "2 1", [2, 1, 3, 4]),
    ([1: 2, 2: 3, 3: 1], "2 3 1", [2, 3, 1, 4]),
    ([1: 2, 2: 3, 3: 9], "2 3 9", [2, 3, 9, 4]),
    // The third record takes a value of a cycle, before and after it.
    ([3: 1, 1: 2, 2: 1], "invalid 2 1", [2, 1, 3, 4]),
    ([1: 2, 2: 1, 3: 1], "2 1 invalid", [2, 1, 3, 4]),
    // The fourth record keeps its value, so the chain before it is refused.
    ([1: 2, 2: 3, 3: 4], "invalid invalid invalid", [1, 2, 3, 4]),
    ([1: 2, 2: 3, 3: 4, 4: 4], "invalid invalid invalid 4", [1, 2, 3, 4]),
    ([1: 3, 2: 3, 3: 1], "3 invalid 1", [3, 2, 1, 4]),
  ]

  @Test(arguments: table)
  func `D16: records of a request exchange values, and only a true conflict is refused`(
    places: KeyValuePairs<Int, Int64>, replies: String, after: [FieldValue]
  ) async throws {
    let result = try await save(places)
    #expect(result.replies == replies && result.places == after)
  }

  @Test func `D16: an atomic request exchanges unique values as a whole or not at all`()
    async throws
  {
    #expect(
      try await save([1: 2, 2: 1, 3: 4], isAtomic: true)
        == ("batchFailed batchFailed invalid", [1, 2, 3, 4]))
    #expect(try await save([1: 2, 2: 3, 3: 1], isAtomic: true) == ("2 3 1", [2, 3, 1, 4]))
  }

  @Test func `D16: an exchange with a record that another writer has changed is refused`()
    async throws
  {
    try await database.save(record("2", ["code": "e"]), policy: .changedKeys)
    var (first, second) = (saved[0], saved[1])
    (first["place"], second["place"]) = (2, 1)
    let replies = try await database.modify(
      RecordBatch([.save(first, .ifUnchanged), .save(second, .ifUnchanged)]))
    #expect(replies[0].error?.name == "invalid")
    guard case .conflict(let current) = replies[1].error?.reason else {
      Issue.record("\(replies[1])")
      return
    }
    #expect(current["place"] == 2 && current["code"] == "e")
  }

  @Test func `D16: a record has a new tag after an exchange, and several columns are exchanged`()
    async throws
  {
    var (first, second) = (saved[0], saved[1])
    (first["place"], second["place"], first["code"], second["code"]) = (2, 1, "b", "a")
    let replies = try await database.modify(
      RecordBatch([.save(first, .ifUnchanged), .save(second, .ifUnchanged)]))
    let stored = try await database.lookup([first.id, second.id], keys: nil)
    for (reply, record) in zip(replies, [first, second]) {
      #expect(reply.record == stored[record.id])
      #expect(reply.record?.tag != record.tag && reply.record?["code"] == record["code"])
    }
  }
}
