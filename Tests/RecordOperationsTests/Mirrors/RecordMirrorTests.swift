import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordMirrorTests {
  // MARK: Rounds

  @Test func `M1: after a round, both databases are equal`() async throws {
    let pair = try MirrorPair()
    try await pair.local.save(record("1", ["title": "Emma", "pages": 474]))
    try await pair.base.save(
      record("2", ["title": "Persuasion", "read": [1, "a"], "cover": .bytes([0, 255])]))
    #expect(try await pair.sync().description == "1 saved, 1 sent")
    #expect(try await pair.names == [["1", "2"], ["1", "2"]])
    #expect(try await pair.local.record(id("2"))?["read"] == [1, "a"])
    #expect(try await pair.local.record(id("2"))?["cover"] == .bytes([0, 255]))
    #expect(try await pair.base.record(id("1"))?["pages"] == 474)
    try await pair.execute("DELETE FROM Book WHERE id = '2'", "UPDATE Book SET pages = 480")
    _ = try await pair.base.modify(RecordBatch([.delete(id("none"), ifTagged: nil)]))
    #expect(try await pair.sync().description == "1 sent, 1 deletions sent")
    #expect(try await pair.names == [["1"], ["1"]])
    #expect(try await pair.values("1", "pages") == [480, 480])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M1: a type that is added later is fetched and sent, too`() async throws {
    let pair = try MirrorPair(types: ["Book"])
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.local.save(record("leo", type: "Author", ["name": "Leo"]))
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    #expect(try await pair.local.record(RecordID("Author", "jane")) == nil)
    let both = RecordMirror(of: ["Author", "Book"], in: pair.local, with: pair.base)
    #expect(try await both.sync.run().get().description == "1 saved, 1 sent")
    #expect(try await pair.base.record(RecordID("Author", "leo"))?["name"] == "Leo")
    #expect(try await pair.local.record(RecordID("Author", "jane"))?["name"] == "Jane")
  }

  @Test func `M1: a table that another program has dropped is restored, not deleted`()
    async throws
  {
    let pair = try MirrorPair()
    for name in ["1", "2"] { try await pair.base.save(record(name, ["title": "Emma"])) }
    try await pair.sync()
    try await pair.execute("DROP TABLE Book")
    try await pair.sync()
    #expect(try await pair.names == [["1", "2"], ["1", "2"]])
    // The same with a new table in its place, in which a record is missing.
    try await pair.execute(
      "DROP TABLE Book", "CREATE TABLE Book (id TEXT PRIMARY KEY, title TEXT)",
      "INSERT INTO Book VALUES ('2', 'Sanditon')")
    try await pair.sync()
    #expect(try await pair.names == [["1", "2"], ["1", "2"]])
    #expect(try await pair.values("2", "title") == ["Sanditon", "Sanditon"])
  }

  @Test func `M2: another database in place of the remote one deletes nothing`() async throws {
    let pair = try MirrorPair()
    for name in ["1", "2"] { try await pair.local.save(record(name, ["title": "Emma"])) }
    try await pair.sync()
    let folder = try TemporaryFolder()
    let databases: [any RecordDatabase] = [
      MemoryRecordDatabase(), SQLiteRecordDatabase(folder.file("1.sqlite")),
      SQLiteRecordDatabase(folder.file("2.sqlite")),
    ]
    for database in databases {
      let mirror = RecordMirror(
        of: ["Author", "Book"], in: pair.local, with: database, otherDatabase: .merge)
      let report = try await mirror.sync.run().get()
      #expect(report.sent == 2 && report.deleted == 0 && report.startedOver)
      #expect(try await database.all(RecordQuery("Book")).count == 2)
      #expect(try await mirror.sync.run().get().isEmpty)
    }
    // A database that forgets its deletions is still the same one.
    let last = SQLiteRecordDatabase(folder.file("2.sqlite"))
    _ = try await last.modify(RecordBatch([.delete(id("1"), ifTagged: nil)]))
    try await last.forgetDeletions(before: .distantFuture)
    let mirror = RecordMirror(of: ["Author", "Book"], in: pair.local, with: last)
    #expect(try await mirror.sync.run().get().description == "1 deleted, no table Author")
  }

  @Test func `M2: an edit that is made while its record is sent is sent later`() async throws {
    let edit = Lock<(@Sendable () async -> Void)?>(nil)
    let pair = try MirrorPair { request, _ in
      if case .modify = request {
        let body = edit.withLock { body in
          defer { body = nil }
          return body
        }
        await body?()
      }
      return nil
    }
    try await pair.local.save(record("1", ["title": "Emma"]))
    let local = pair.local
    edit.withLock { body in
      body = {
        _ = try? await local.save(
          record("1", ["title": "Sanditon"]), record("2", ["title": "New"]))
      }
    }
    try await pair.sync()
    #expect(try await pair.values("1", "title") == ["Sanditon", "Emma"])
    #expect(try await pair.names == [["1", "2"], ["1"]])
    // A deletion in the meantime is sent later, too.
    edit.withLock { body in
      body = {
        _ = try? await local.modify(RecordBatch([.delete(RecordID("Book", "1"), ifTagged: nil)]))
      }
    }
    try await pair.sync()
    #expect(try await pair.values("1", "title") == [nil, "Sanditon"])
    try await pair.sync()
    #expect(try await pair.names == [["2"], ["2"]])
    #expect(try await pair.lost == [])
  }

  @Test func `M2: an edit is sent by the first round that reaches the database (sqlite-data 432)`()
    async throws
  {
    let isDown = Lock(true)
    let pair = try MirrorPair { request, _ in
      guard case .modify = request, isDown.withLock(\.self) else { return nil }
      return .failing { _ in RecordError(.unavailable("busy")) }
    }
    for name in ["1", "2", "3"] { try await pair.local.save(record(name, ["title": "Emma"])) }
    for _ in 0..<3 {
      let error = await pair.mirror.sync.run().error as? RecordError
      #expect(error?.name == "unavailable")
    }
    isDown.withLock { $0 = false }
    #expect(try await pair.sync().sent == 3)
    #expect(try await pair.names == [["1", "2", "3"], ["1", "2", "3"]])
  }

  @Test func `M2: an unsent deletion survives that the file forgets deletions`() async throws {
    let pair = try MirrorPair()
    for name in ["1", "2"] { try await pair.base.save(record(name, ["title": "Emma"])) }
    try await pair.sync()
    try await pair.execute("DELETE FROM Book WHERE id = '1'")
    try await pair.local.forgetDeletions(before: .distantFuture)
    try await pair.sync()
    #expect(try await pair.names == [["2"], ["2"]])
    #expect(try await pair.local.forgetDeletions(before: .distantFuture) == 1)
  }

  @Test
  func `M2: a record that is deleted after its creation lost its reply is deleted there, too`()
    async throws
  {
    let isEnding = Lock(true)
    let pair = try MirrorPair { request, _ in
      guard case .modify = request, isEnding.withLock(\.self) else { return nil }
      return .losingReply
    }
    try await pair.local.save(record("1", ["title": "Emma"]))
    // The only attempt loses its reply, so the round ends before it knows.
    let single = RecordMirror(
      of: ["Book"], in: pair.local, with: pair.remote, retries: RetryPolicy(attempts: 1))
    #expect((await single.sync.run().error as? RecordError)?.name == "replyLost")
    #expect(try await pair.base.record(id("1")) != nil)
    try await pair.execute("DELETE FROM Book")
    isEnding.withLock { $0 = false }
    _ = try await single.sync.run().get()
    #expect(try await pair.names == [[], []])
  }

  @Test func `M7: rounds on a file exclude each other`() async throws {
    let running = Lock((now: 0, most: 0))
    let pair = try MirrorPair { _, number in
      running.withLock { running in
        running.now += 1
        running.most = max(running.most, running.now)
      }
      // The first request is long enough for a request of another round, if there is one.
      let end = ContinuousClock.now + .milliseconds(number == 1 ? 500 : 0)
      while running.withLock({ $0.most == 1 }), ContinuousClock.now < end { await Task.yield() }
      running.withLock { $0.now -= 1 }
      return nil
    }
    let others = (0..<3).map { number in
      RecordMirror(of: ["Book"], in: pair.local, with: pair.remote, named: "\(number)")
    }
    for number in 0..<5 { try await pair.local.save(record("\(number)", ["title": "Emma"])) }
    let rounds = ParallelOperation(others.map { AnyOperation($0.sync) })
    _ = try await rounds.run().get()
    #expect(running.withLock { $0.most } == 1)
    #expect(try await pair.names[1].count == 5)
  }

  // MARK: References

  @Test func `M1: referenced records are sent first, and cycles are sent in two steps`()
    async throws
  {
    let pair = try MirrorPair(
      types: ["Author", "Book"], limits: RecordLimits(items: 2, page: 2))
    try await pair.local.save(record("jane", type: "Author", ["name": "Jane"]))
    for number in 0..<5 {
      try await pair.local.save(record("\(number)", ["author": reference("jane", .deny)]))
    }
    // Edited last, the author has the last local tag.
    try await pair.local.save(record("jane", type: "Author", ["name": "Jane Austen"]))
    #expect(try await pair.sync().sent == 6)
    // Two records that refer to each other.
    let favorite = FieldValue.reference(RecordReference(id("9"), onDelete: .nullify))
    try await pair.local.save(record("leo", type: "Author", ["name": "Leo"]))
    try await pair.local.save(record("9", ["author": reference("leo", .deny)]))
    try await pair.local.save(record("leo", type: "Author", ["favorite": favorite]))
    try await pair.sync()
    #expect(try await pair.base.record(RecordID("Author", "leo"))?["favorite"] == favorite)
    #expect(try await pair.base.record(id("9"))?["author"] == reference("leo", .deny))
    // And back: another replica, page by page.
    let other = try MirrorPair()
    let mirror = RecordMirror(of: ["Author", "Book"], in: other.local, with: pair.base)
    _ = try await mirror.sync.run().get()
    #expect(
      try await other.local.all(RecordQuery("Book")).map(\.id.name).sorted()
        == ["0", "1", "2", "3", "4", "9"])
    #expect(try await other.local.record(RecordID("Author", "leo"))?["favorite"] == favorite)
    #expect(try await mirror.sync.run().get().isEmpty)
  }

  @Test func `the rules of references may differ between the databases`() async throws {
    let pair = try MirrorPair()
    try await pair.execute(
      "CREATE TABLE Author (id TEXT PRIMARY KEY, name TEXT)",
      """
      CREATE TABLE Book (id TEXT PRIMARY KEY, author TEXT REFERENCES Author ON DELETE SET NULL)
      """)
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(
      record("1", ["author": reference("jane", .deny)]),
      record("2", ["author": reference("jane", .deny)]))
    #expect(try await pair.sync().description == "3 saved")
    #expect(try await pair.local.record(id("1"))?["author"] == reference("jane", .nullify))
    #expect(try await pair.sync().isEmpty)
  }

  // MARK: Figures

  @Test func `a round without changes makes one request`() async throws {
    let pair = try MirrorPair()
    for number in 0..<5 { try await pair.local.save(record("\(number)", ["title": "Emma"])) }
    try await pair.sync()
    try await pair.sync()
    let before = pair.remote.requestCount
    try await pair.sync()
    #expect(pair.remote.requestCount - before == 1)
  }

  @Test func `unsent edits are sent in as few requests as the limit permits`() async throws {
    let pair = try MirrorPair(limits: RecordLimits(items: 40))
    let records = (0..<1_010).map { record("\($0)", ["title": "Emma"]) }
    _ = try await pair.local.modify(RecordBatch(records.map { .save($0, .allKeys) }))
    try await pair.sync()
    // One request for the changes.
    #expect(pair.remote.requestCount == 1 + 26)
    #expect(try await pair.names[1].count == 1_010)
  }

  // MARK: Faults of MagicCloud

  @Test func `X42: changes that are only edits are sent`() async throws {
    let pair = try MirrorPair()
    try await pair.local.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.local.save(record("1", ["title": "Sanditon"]))
    #expect(try await pair.sync().description == "1 sent")
    #expect(try await pair.values("1", "title") == ["Sanditon", "Sanditon"])
  }

  @Test func `X43: a round that is cancelled before a deletion ends, and the next one sends it`()
    async throws
  {
    let cancel = Lock<(@Sendable () -> Void)?>(nil)
    let pair = try MirrorPair { request, _ in
      if case .modify = request { cancel.withLock(\.self)?() }
      return nil
    }
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.execute("DELETE FROM Book")
    let run = pair.mirror.sync.start()
    cancel.withLock { cancel in cancel = { run.cancel() } }
    #expect(await run.outcome.isCancelled)
    cancel.withLock { $0 = nil }
    try await pair.sync()
    #expect(try await pair.names == [[], []])
  }

  @Test func `X49: nothing retains a mirror, and its streams finish with it`() async throws {
    let pair = try MirrorPair()
    weak var released: RecordMirror?
    let streams = try await { () async throws in
      let mirror = RecordMirror(of: ["Book"], in: pair.local, with: pair.base)
      released = mirror
      let streams = (mirror.changes, mirror.states)
      let run = mirror.following().start()
      run.cancel()
      _ = await run.lateOutcome
      return streams
    }()
    // The task of the run may be freed a little later than its outcome is known.
    while released != nil { await Task.yield() }
    for await _ in streams.0 {}
    for await _ in streams.1 {}
  }
}
