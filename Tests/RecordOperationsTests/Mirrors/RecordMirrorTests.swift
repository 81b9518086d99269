import CompositeOperations
import Dispatch
import Foundation
import RecordOperations
import SQLiteSupport
import Synchronization
import Testing

@Suite struct RecordMirrorTests {
  private func id(_ name: String) -> RecordID { RecordID("Book", name) }

  private func reference(_ name: String, _ rule: RecordReference.DeleteRule) -> FieldValue {
    .reference(RecordReference(RecordID("Author", name), onDelete: rule))
  }

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
      let mirror = RecordMirror(of: ["Author", "Book"], in: pair.local, with: database)
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
    #expect(try await mirror.sync.run().get().description == "1 deleted")
  }

  @Test func `M2: an edit that is made while its record is sent is sent later`() async throws {
    let edit = Mutex<(@Sendable () async -> Void)?>(nil)
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
    let isDown = Mutex(true)
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
    let isEnding = Mutex(true)
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

  // MARK: Merges

  @Test func `M3: fields that only one side has changed are merged`() async throws {
    let pair = try MirrorPair()
    try await pair.base.save(record("1", ["title": "Emma", "pages": 1, "tags": ["a"], "same": 1]))
    try await pair.sync()
    try await pair.edit(
      "1", local: ["title": "Sanditon", "same": 2, "new": 3],
      remote: ["pages": 2, "tags": ["a", "b"], "same": 2])
    let report = try await pair.sync()
    #expect(report.description == "1 saved, 1 sent")
    for (key, value): (String, FieldValue) in [
      ("title", "Sanditon"), ("pages", 2), ("tags", ["a", "b"]), ("same", 2), ("new", 3),
    ] {
      #expect(try await pair.values("1", key) == [value, value], "\(key)")
    }
    #expect(try await pair.lost == [])
  }

  @Test func `M3: lists and references are single values`() async throws {
    let pair = try MirrorPair()
    try await pair.base.save(record("1", ["tags": ["a"]]))
    try await pair.sync()
    try await pair.edit("1", local: ["tags": ["a", "b"]], remote: ["tags": ["a", "c"]])
    #expect(try await pair.sync().conflicts == 1)
    #expect(try await pair.values("1", "tags") == [["a", "c"], ["a", "c"]])
    #expect(try await pair.lost == [#"Book/1 tags ["a","b"] ["a","c"] local"#])
  }

  @Test func `M3: a later edit does not conflict with the value that the mirror itself has sent`()
    async throws
  {
    let isLosing = Mutex(true)
    let pair = try MirrorPair(retries: RetryPolicy(attempts: 1)) { request, _ in
      guard case .modify = request, isLosing.withLock(\.self) else { return nil }
      return .losingReply
    }
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.local.save(record("1", ["title": "Sanditon"]))
    _ = await pair.mirror.sync.run()
    #expect(try await pair.base.record(id("1"))?["title"] == "Sanditon")
    try await pair.local.save(record("1", ["title": "Persuasion"]))
    isLosing.withLock { $0 = false }
    #expect(try await pair.sync().conflicts == 0)
    #expect(try await pair.values("1", "title") == ["Persuasion", "Persuasion"])
  }

  @Test(arguments: [
    ("remote", FieldValue.string("theirs"), "mine"), ("local", "mine", "theirs"),
    ("newest local", "mine", "theirs"), ("newest remote", "theirs", "mine"),
    ("decided", "both", "mine"),
  ])
  func `M4: the policy decides about a conflict, and the lost value is kept and reported`(
    kind: String, kept: FieldValue, lost: String
  ) async throws {
    let decisions = Mutex<[MirrorConflict]>([])
    let policy: ConflictPolicy =
      switch kind {
      case "remote": .remoteWins
      case "local": .localWins
      case "newest local", "newest remote": .newest
      default:
        .decided { conflict in
          decisions.withLock { $0.append(conflict) }
          return .values(["title": "both"])
        }
      }
    let pair = try MirrorPair(conflicts: policy)
    try await pair.base.save(record("1", ["title": "Emma", "pages": 1]))
    try await pair.sync()
    try await pair.edit("1", local: ["title": "mine", "pages": 2], remote: ["title": "theirs"])
    if kind.hasPrefix("newest") {
      // The time of the local edit, without waiting.
      let time = kind == "newest local" ? "2999-01-01T00:00:00.000Z" : "2000-01-01T00:00:00.000Z"
      try await pair.execute("UPDATE _record_states SET modified = '\(time)'")
    }
    var changes = pair.mirror.changes.makeAsyncIterator()
    let report = try await pair.sync()
    #expect(report.conflicts == (kind == "decided" ? 2 : 1) && report.sent == 1)
    #expect(try await pair.values("1", "title") == [kept, kept])
    #expect(try await pair.values("1", "pages") == [2, 2])
    #expect(try await pair.lost.contains { $0.contains("title \"\(lost)\"") })
    var reported: LostValue?
    while reported == nil, let change = await changes.next() {
      if case .lost(let value) = change { reported = value }
    }
    #expect(reported?.lost == .string(lost) && reported?.kept == kept && reported?.field == "title")
    if kind == "decided" {
      let conflict = try #require(decisions.withLock { $0.first })
      #expect(conflict.base?["title"] == "Emma" && conflict.fields == ["title"])
      #expect(conflict.local["title"] == "mine" && conflict.remote["title"] == "theirs")
    }
  }

  @Test func `M4: an error of the deciding closure ends the round and changes nothing`()
    async throws
  {
    struct Undecided: Error {}
    let pair = try MirrorPair(conflicts: .decided { _ in throw Undecided() })
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    try await pair.edit("1", local: ["title": "mine"], remote: ["title": "theirs"])
    try await pair.base.save(record("2", ["title": "Sanditon"]))
    #expect(await pair.mirror.sync.run().error is Undecided)
    #expect(try await pair.values("1", "title") == ["mine", "theirs"])
    #expect(try await pair.local.record(id("2")) == nil)
    #expect(try await pair.lost == [])
  }

  @Test(arguments: ["a", "c"])
  func `M4: equal times choose the greater value everywhere (sqlite-data 354, 506)`(
    other: String
  ) async throws {
    let remote = MemoryRecordDatabase()
    let pairs = try (0..<2).map { _ in try MirrorPair() }
    let mirrors = pairs.map {
      RecordMirror(of: ["Book"], in: $0.local, with: remote, conflicts: .newest)
    }
    try await remote.save(record("1", ["title": "Emma"]))
    for mirror in mirrors { _ = try await mirror.sync.run().get() }
    try await pairs[0].local.save(record("1", ["title": "b"]))
    try await pairs[1].local.save(record("1", ["title": .string(other)]))
    _ = try await mirrors[0].sync.run().get()
    let time = try #require(try await remote.record(id("1"))?.modified)
    // The style truncates to milliseconds.
    let text = time.addingTimeInterval(0.000_5)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    try await pairs[1].execute("UPDATE _record_states SET modified = '\(text)'")
    for mirror in mirrors + mirrors { _ = try await mirror.sync.run().get() }
    for database in [pairs[0].local, pairs[1].local] as [any RecordDatabase] + [remote] {
      #expect(try await database.record(id("1"))?["title"] == .string(max("b", other)))
    }
  }

  @Test func `M4: concurrent offline edits converge on all replicas (sqlite-data 274)`()
    async throws
  {
    let remote = MemoryRecordDatabase()
    let pairs = try (0..<2).map { _ in try MirrorPair() }
    let mirrors = pairs.map {
      RecordMirror(of: ["Book"], in: $0.local, with: remote, conflicts: .newest)
    }
    try await remote.save(record("1", ["title": "foo"]))
    for mirror in mirrors { _ = try await mirror.sync.run().get() }
    // The first edit is made offline, and sent after the second one.
    try await pairs[0].local.save(record("1", ["title": "fooA"]))
    try await pairs[1].local.save(record("1", ["title": "fooB"]))
    for index in [1, 0, 1, 0] { _ = try await mirrors[index].sync.run().get() }
    let titles = try await [pairs[0].local, pairs[1].local].asyncMap {
      try await $0.record(id("1"))?["title"]
    }
    #expect(try await remote.record(id("1"))?["title"] == titles[0] && titles[0] == titles[1])
    #expect(try await pairs[0].lost.count == 1)
  }

  // MARK: Deletions

  @Test(arguments: DeletionPolicy.allCases)
  func `M5: the policy decides between an edit and a deletion`(policy: DeletionPolicy) async throws
  {
    let pair = try MirrorPair(deletions: policy)
    for name in ["1", "2", "3", "4"] {
      try await pair.base.save(record(name, ["title": "Emma", "pages": 1]))
    }
    try await pair.sync()
    // A remote deletion and a local edit; a local deletion and a remote edit; the same without an
    // edit.
    _ = try await pair.base.modify(
      RecordBatch([.delete(id("1"), ifTagged: nil), .delete(id("3"), ifTagged: nil)]))
    try await pair.local.save(record("1", ["title": "Sanditon"]))
    try await pair.execute("DELETE FROM Book WHERE id IN ('2', '4')")
    try await pair.base.save(record("2", ["title": "Persuasion"]))
    try await pair.sync()
    switch policy {
    case .lose:
      #expect(try await pair.names == [["1", "2"], ["1", "2"]])
      #expect(try await pair.values("1", "pages") == [1, 1])
      #expect(
        Set(try await pair.lost) == [
          "Book/1 deletion null null remote", "Book/2 deletion null null local",
        ])
    case .win:
      #expect(try await pair.names == [[], []])
      #expect(
        Set(try await pair.lost) == [
          #"Book/1 title "Sanditon" null local"#, #"Book/2 title "Persuasion" null remote"#,
        ])
    }
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M5: a record that was deleted and created again exists everywhere (sqlite-data 418)`()
    async throws
  {
    let pair = try MirrorPair()
    try await pair.base.save(record("1", ["title": "Emma", "pages": 1]))
    try await pair.sync()
    try await pair.execute(
      "DELETE FROM Book WHERE id = '1'", "INSERT INTO Book (id, title) VALUES ('1', 'Sanditon')")
    try await pair.sync()
    #expect(try await pair.values("1", "title") == ["Sanditon", "Sanditon"])
    #expect(try await pair.values("1", "pages") == [.null, .null])
    // With a round in between, the new record has nothing in common with the old one.
    try await pair.execute("DELETE FROM Book")
    try await pair.sync()
    #expect(try await pair.names == [[], []])
    try await pair.local.save(record("1", ["title": "Persuasion"]))
    try await pair.sync()
    #expect(try await pair.values("1", "title") == ["Persuasion", "Persuasion"])
  }

  @Test(arguments: ["Emma", "Persuasion"])
  func `M5: a record that exists again gets remote fields that the file has no columns for`(
    title: FieldValue
  ) async throws {
    let isStrict = Mutex(false)
    let pair = try MirrorPair(deletions: .win) { request, _ in
      guard case .modify = request, isStrict.withLock(\.self) else { return nil }
      return .failing { _ in RecordError(.notPermitted("not today")) }
    }
    try await pair.local.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    // The deletion wins, but cannot be sent.
    _ = try await pair.local.modify(RecordBatch([.delete(id("1"), ifTagged: nil)]))
    try await pair.base.save(record("1", ["pages": 7]))
    isStrict.withLock { $0 = true }
    try await pair.sync()
    #expect(try await pair.lost == ["Book/1 pages 7 null remote"])
    isStrict.withLock { $0 = false }
    try await pair.local.save(record("1", ["title": title]))
    try await pair.sync()
    #expect(try await pair.values("1", "title") == [title, title])
    #expect(try await pair.values("1", "pages") == [7, 7])
    #expect(try await pair.sync().isEmpty)
  }

  @Test func `M5: a deleted record stays if an unsent one refers to it`() async throws {
    let pair = try MirrorPair()
    let author = RecordID("Author", "jane")
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.base.save(record("1", ["author": reference("jane", .cascade)]))
    try await pair.sync()
    try await pair.local.save(record("2", ["author": reference("jane", .cascade)]))
    _ = try await pair.base.modify(RecordBatch([.delete(author, ifTagged: nil)]))
    #expect(try await pair.base.record(id("1")) == nil)
    try await pair.sync()
    #expect(try await pair.names == [["2"], ["2"]])
    #expect(try await pair.base.record(author)?["name"] == "Jane")
    #expect(try await pair.lost == ["Author/jane deletion null null remote"])
  }

  @Test func `M5: a deletion that another record prevents is undone and reported`() async throws {
    let pair = try MirrorPair()
    try await pair.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await pair.sync()
    try await pair.base.save(record("1", ["author": reference("jane", .deny)]))
    try await pair.execute("DELETE FROM Author")
    try await pair.sync()
    #expect(try await pair.names == [["1"], ["1"]])
    #expect(try await pair.local.record(RecordID("Author", "jane"))?["name"] == "Jane")
    #expect(try await pair.lost == ["Author/jane deletion null null local"])
    #expect(try await pair.sync().isEmpty)
    // The same if the other record is of a type that is not mirrored.
    let authors = try MirrorPair(types: ["Author"])
    try await authors.base.save(record("jane", type: "Author", ["name": "Jane"]))
    try await authors.base.save(record("1", ["author": reference("jane", .deny)]))
    try await authors.sync()
    try await authors.execute("DELETE FROM Author")
    try await authors.sync()
    #expect(try await authors.local.record(RecordID("Author", "jane"))?["name"] == "Jane")
    #expect(try await authors.lost == ["Author/jane deletion null null local"])
    #expect(try await authors.sync().isEmpty)
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

  // MARK: Pulls

  @Test func `M6: no reader sees an emptied table while all records are fetched again (X47)`()
    async throws
  {
    let pair = try MirrorPair(limits: RecordLimits(page: 2))
    for number in 0..<9 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    try await pair.sync()
    _ = try await pair.base.modify(RecordBatch([.delete(id("4"), ifTagged: nil)]))
    pair.base.forgetDeletions()
    let (local, base) = (pair.local, pair.base)
    let counts = Mutex<[Int]>([])
    let watched = FaultyRecordDatabase(base) { _, _ in
      let count = (try? await local.all(RecordQuery("Book")).count) ?? -1
      counts.withLock { $0.append(count) }
      return nil
    }
    let mirror = RecordMirror(of: ["Book"], in: pair.local, with: watched)
    var changes = mirror.changes.makeAsyncIterator()
    #expect(try await mirror.sync.run().get().description == "1 deleted")
    #expect(counts.withLock(\.self).allSatisfy { $0 == 9 })
    #expect(try await local.all(RecordQuery("Book")).count == 8)
    guard case .startedOver? = await changes.next() else {
      Issue.record("the round must report that it started over")
      return
    }
  }

  @Test func `M6: a failed request changes nothing, and a broken pull continues (X47, X48)`()
    async throws
  {
    let failing = Mutex<Int?>(3)
    let pair = try MirrorPair(limits: RecordLimits(page: 2)) { _, number in
      number == failing.withLock(\.self) ? .refusing(RecordError(.notPermitted("no"))) : nil
    }
    for number in 0..<7 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    let error = await pair.mirror.sync.run().error as? RecordError
    #expect(error?.name == "notPermitted")
    #expect(try await pair.names[0] == ["0", "1", "2", "3"])
    failing.withLock { $0 = nil }
    let before = pair.remote.requestCount
    #expect(try await pair.sync().saved == 3)
    // Two pages, from the token of the last one that was stored.
    #expect(pair.remote.requestCount - before == 2)
  }

  @Test func `M6: a record that changes while changes are fetched is stored in its last state`()
    async throws
  {
    let base = Mutex<MemoryRecordDatabase?>(nil)
    let pair = try MirrorPair(limits: RecordLimits(page: 2)) { request, _ in
      guard case .changes(.some) = request, let base = base.withLock({ $0.take() }) else {
        return nil
      }
      _ = try? await base.modify(
        RecordBatch([
          .save(record("0", ["title": "Persuasion"]), .allKeys), .delete(id("1"), ifTagged: nil),
        ]))
      return nil
    }
    for number in 0..<5 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    base.withLock { $0 = pair.base }
    #expect(try await pair.sync().saved == 4)
    #expect(try await pair.names == [["0", "2", "3", "4"], ["0", "2", "3", "4"]])
    #expect(try await pair.values("0", "title") == ["Persuasion", "Persuasion"])
    #expect(try await pair.sync().isEmpty)
  }

  @Test(.timeLimit(.minutes(1)))
  func `M6: the next changes are fetched while changes are stored`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let pages = Mutex<Int?>(nil)
    let pair = try MirrorPair(limits: RecordLimits(page: 2), transactionSize: 2) { _, _ in
      let page = pages.withLock { pages in
        pages = pages.map { $0 + 1 }
        return pages
      }
      if page == 2 { gate.signal() }
      return nil
    }
    try await pair.sync()
    for number in 0..<4 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    // Another writer keeps the file until the second page is fetched.
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let local = pair.local
    let writer = Task {
      try await local.write { _ in
        begin.yield()
        gate.wait()
      }
    }
    for await _ in begun { break }
    pages.withLock { $0 = 0 }
    #expect(try await pair.sync().saved == 4)
    try await writer.value
  }

  @Test func `M6: the log of the local file is emptied after a pull that fails`() async throws {
    let text = FieldValue.text(String(repeating: "x", count: 1_000_000))
    let pair = try MirrorPair(limits: RecordLimits(page: 2), transactionSize: 2) {
      request, number in
      if case .changes = request, number > 6 {
        .refusing(RecordError(.notPermitted("no")))
      } else {
        nil
      }
    }
    for number in 0..<20 { try await pair.base.save(record("\(number)", ["title": text])) }
    #expect(await pair.mirror.sync.run().error is RecordError)
    // The log is emptied after the round, before later requests.
    let count = try await pair.local.write {
      try $0.fetchOne("SELECT count(*) FROM Book") { $0.int(at: 0) }
    }
    #expect(count == 12)
    let size = try FileManager.default.attributesOfItem(atPath: pair.folder.file() + "-wal")[.size]
    #expect(size as? Int == 0)
  }

  @Test func `M7: rounds on a file exclude each other`() async throws {
    let running = Mutex((now: 0, most: 0))
    let pair = try MirrorPair { _, _ in
      running.withLock { running in
        running.now += 1
        running.most = max(running.most, running.now)
      }
      // Long enough for a request of another round, if there is one.
      for _ in 0..<2_000 { await Task.yield() }
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

  // MARK: Rejections

  @Test func `M9: a rejected record stays unsent and is reported once, and the others are sent`()
    async throws
  {
    let isStrict = Mutex(true)
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
    // The first row is ignored. The second one replaces a row, which is as many changes as two rows.
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

  @Test func `M4: lost values are listed and removed`() async throws {
    let pair = try MirrorPair()
    #expect(try await pair.mirror.lostValues() == [])
    try await pair.base.save(record("1", ["title": "Emma"]))
    try await pair.sync()
    let start = Date()
    try await pair.edit("1", local: ["title": "mine"], remote: ["title": "theirs"])
    try await pair.sync()
    let lost = try #require(try await pair.mirror.lostValues().first)
    #expect(lost.record == id("1") && lost.field == "title" && lost.side == .local)
    #expect(lost.lost == "mine" && lost.kept == "theirs")
    #expect(lost.date >= start.addingTimeInterval(-0.001) && lost.date <= Date())
    #expect("\(lost)" == #"Book/1: the local title "mine" was replaced by "theirs""#)
    #expect(try await pair.mirror.removeLostValues(before: .distantPast) == 0)
    #expect(try await pair.mirror.removeLostValues(before: .distantFuture) == 1)
    #expect(try await pair.mirror.lostValues() == [])
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

  // MARK: Databases without changes

  @Test func `M10: a database that reports no changes is compared as a whole`() async throws {
    let pair = try MirrorPair(
      limits: RecordLimits(page: 2), capabilities: .all.subtracting(.changes))
    for number in 0..<5 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    let first = try await pair.sync()
    #expect(first.saved == 5 && !first.usesChanges)
    _ = try await pair.base.modify(RecordBatch([.delete(id("3"), ifTagged: nil)]))
    try await pair.base.save(record("1", ["title": "Sanditon"]))
    try await pair.local.save(record("9", ["title": "Persuasion"]))
    #expect(try await pair.sync().description == "1 saved, 1 deleted, 1 sent")
    #expect(try await pair.names == [["0", "1", "2", "4", "9"], ["0", "1", "2", "4", "9"]])
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
    let cancel = Mutex<(@Sendable () -> Void)?>(nil)
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
    #expect(released == nil)
    for await _ in streams.0 {}
    for await _ in streams.1 {}
  }
}
