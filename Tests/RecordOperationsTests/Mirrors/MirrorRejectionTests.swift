import CompositeOperations
import RecordOperations
import SQLiteSupport
import Testing

@Suite struct MirrorRejectionTests {
  @Test func `M9: a rejected record stays unsent and is reported once, and the others are sent`()
    async throws
  {
    let isStrict = Lock(true)
    let pair = try MirrorPair(conflicts: .localWins) { request, _ in
      guard case .modify = request, isStrict.withLock(\.self) else { return nil }
      return .failing { change in
        change.id.name == "2" ? RecordError(.invalid("too long")) : nil
      }
    }
    for name in ["1", "2", "3"] { try await pair.local.save(record(name, ["title": "Emma"])) }
    var changes = pair.mirror.changes.makeAsyncIterator()
    #expect(try await pair.sync().description == "2 sent, 1 rejected")
    guard case .rejected(let error)? = await changes.next() else {
      Issue.record("the rejection must be reported")
      return
    }
    #expect(error.record == id("2") && error.name == "invalid")
    #expect(try await pair.mirror.rejections() == [id("2"): "too long"])
    #expect(try await pair.sync().description == "no changes")
    // A new state is reported again.
    try await pair.local.save(record("2", ["title": "Sanditon"]))
    #expect(try await pair.sync().rejected == 1)
    isStrict.withLock { $0 = false }
    #expect(try await pair.sync().sent == 1)
    #expect(try await pair.mirror.rejections() == [:])
    #expect(try await pair.values("2", "title") == ["Sanditon", "Sanditon"])
  }

  @Test func `M12: a value that the local file cannot store is rejected with its field`()
    async throws
  {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Book (id TEXT PRIMARY KEY, title TEXT, pages INTEGER CHECK (pages > 0))")
    try await pair.base.save(
      record("1", ["title": "Emma"]), record("2", ["pages": "many"]), record("3", ["pages": -1]),
      record("4", ["weight": 2]))
    var changes = pair.mirror.changes.makeAsyncIterator()
    let report = try await pair.sync()
    #expect(report.saved == 1 && report.rejected == 3)
    var problems: [String: String] = [:]
    while problems.count < 3, let change = await changes.next() {
      if case .rejected(let error) = change, let name = error.record?.name {
        problems[name] = "\(error)"
      }
    }
    #expect(problems["2"]?.contains("pages") == true, "\(problems)")
    #expect(problems["3"]?.contains("pages > 0") == true, "\(problems)")
    #expect(problems["4"]?.contains("no column \"weight\"") == true, "\(problems)")
    #expect(try await pair.sync().isEmpty)
    // As soon as the file can store it, it is stored. Nothing of it was deleted remotely.
    try await pair.execute("ALTER TABLE Book ADD COLUMN weight INTEGER")
    #expect(try await pair.sync().saved == 1)
    #expect(try await pair.values("4", "weight") == [2, 2])
    #expect(try await pair.names[1] == ["1", "2", "3", "4"])
  }

  @Test func `M12: a field with the name of the key column is rejected`() async throws {
    let pair = try MirrorPair()
    for name in ["1", "2"] {
      try await pair.base.save(record(name, ["id": "other", "title": "Emma"]))
    }
    try await pair.base.save(record("3", ["title": "Emma"]))
    try await pair.sync()
    #expect(try await pair.names == [["3"], ["1", "2", "3"]])
    let rejections = try await pair.mirror.rejections()
    #expect(rejections.keys.map(\.name).sorted() == ["1", "2"])
    #expect(rejections.values.allSatisfy { $0.contains("id") })
  }

  @Test func `M9: a row that a conflict clause of the table ignores is rejected`() async throws {
    let pair = try MirrorPair()
    try await pair.local.write { connection in
      try connection.execute(
        """
        CREATE TABLE Book (id TEXT PRIMARY KEY, title TEXT UNIQUE ON CONFLICT IGNORE, \
        place TEXT UNIQUE ON CONFLICT REPLACE)
        """)
    }
    try await pair.local.save(record("0", ["title": "Persuasion", "place": "A1"]))
    try await pair.local.save(record("3", ["title": "Emma", "place": "A3"]))
    try await pair.sync()
    // A save of the first record is ignored. A save of the second one replaces a row.
    try await pair.base.save(record("1", ["title": "Emma", "place": "A2"]))
    try await pair.base.save(record("2", ["title": "Sanditon", "place": "A1"]))
    try await pair.sync()
    #expect(try await pair.mirror.rejections().keys.map(\.name) == ["1"])
    // The file has deleted the replaced record.
    #expect(try await pair.names == [["2", "3"], ["1", "2", "3"]])
  }

  @Test func `M9: a record that refers to a missing one waits, and is reported once`()
    async throws
  {
    // Authors are not mirrored.
    let pair = try MirrorPair(types: ["Book"])
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(
      record("1", ["author": reference("jane", .deny)]), record("2", ["title": "Emma"]))
    var changes = pair.mirror.changes.makeAsyncIterator()
    #expect(try await pair.sync().description == "1 saved, 1 rejected")
    var problem: RecordError?
    while problem == nil, let change = await changes.next() {
      if case .rejected(let error) = change { problem = error }
    }
    #expect(problem?.name == "referenceViolated" && problem?.record == id("1"))
    #expect(try await pair.sync().description == "no changes")
    try await pair.local.save(record("jane", type: "Author", ["name": "Jane"]))
    #expect(try await pair.sync().description == "1 saved")
    #expect(try await pair.names == [["1", "2"], ["1", "2"]])
  }
}
