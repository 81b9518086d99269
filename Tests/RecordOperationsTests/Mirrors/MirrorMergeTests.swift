import CompositeOperations
import Foundation
import RecordOperations
import Testing

@Suite struct MirrorMergeTests {
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
    let isLosing = Lock(true)
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
    let decisions = Lock<[MirrorConflict]>([])
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

  /// Makes the edits of a file as old as a year.
  private func date(_ pair: MirrorPair, _ year: Int) async throws {
    try await pair.execute("UPDATE _record_states SET modified = '\(year)-01-01T00:00:00.000Z'")
  }

  @Test(arguments: ["memory", "file"])
  func `M4: the later edit wins, although it is sent later and the earlier one was sent before`(
    kind: String
  ) async throws {
    let folder = try TemporaryFolder()
    let remote: any RecordDatabase =
      kind == "memory" ? MemoryRecordDatabase() : SQLiteRecordDatabase(folder.file("remote.sqlite"))
    let pairs = try (0..<3).map { _ in try MirrorPair() }
    let mirrors = pairs.map {
      RecordMirror(of: ["Book"], in: $0.local, with: remote, conflicts: .newest)
    }
    try await pairs[0].local.save(record("1", ["title": "Emma", "pages": 1]))
    try await date(pairs[0], 2000)
    for mirror in mirrors { _ = try await mirror.sync.run().get() }
    for (index, year) in [(0, 2001), (1, 2002)] {
      try await pairs[index].local.save(record("1", ["title": .string("\(year)")]))
      try await date(pairs[index], year)
    }
    for index in [0, 2, 1, 0, 2] { _ = try await mirrors[index].sync.run().get() }
    for database in pairs.map({ $0.local as any RecordDatabase }) + [remote] {
      #expect(try await database.record(id("1"))?["title"] == "2002")
    }
    // A time in the future counts as the time of the save.
    try await pairs[0].local.save(record("1", ["title": "2999"]))
    try await date(pairs[0], 2999)
    _ = try await mirrors[0].sync.run().get()
    let saved = try #require(try await remote.record(id("1"))?.modified)
    #expect(saved <= Date().addingTimeInterval(0.001))
  }

  @Test
  func `M4: an edit that is merged with another field and not sent yet stays as old as it is`()
    async throws
  {
    let isDown = Lock(false)
    let remote = MemoryRecordDatabase()
    let faulty = FaultyRecordDatabase(remote) { request, _ in
      guard case .modify = request, isDown.withLock(\.self) else { return nil }
      return .refusing(RecordError(.invalid("down")))
    }
    let pairs = try (0..<2).map { _ in try MirrorPair() }
    let first = RecordMirror(of: ["Book"], in: pairs[0].local, with: faulty, conflicts: .newest)
    let second = RecordMirror(of: ["Book"], in: pairs[1].local, with: remote, conflicts: .newest)
    try await remote.save(record("1", ["title": "Emma", "pages": 1]))
    for mirror in [first, second] { _ = try await mirror.sync.run().get() }
    try await pairs[0].local.save(record("1", ["title": "2001"]))
    try await date(pairs[0], 2001)
    try await remote.save(record("1", ["pages": 2]))
    isDown.withLock { $0 = true }
    _ = await first.sync.run()
    #expect(try await pairs[0].local.record(id("1"))?["pages"] == 2)
    try await pairs[1].local.save(record("1", ["title": "2002"]))
    try await date(pairs[1], 2002)
    for mirror in [second, first] { _ = await mirror.sync.run() }
    #expect(try await pairs[0].local.record(id("1"))?["title"] == "2002")
  }

  @Test(arguments: ["memory", "file"])
  func `M4: an old edit of one field does not make a record older`(kind: String) async throws {
    let folder = try TemporaryFolder()
    let remote: any RecordDatabase =
      kind == "memory" ? MemoryRecordDatabase() : SQLiteRecordDatabase(folder.file("remote.sqlite"))
    let pair = try MirrorPair()
    let mirror = RecordMirror(of: ["Book"], in: pair.local, with: remote, conflicts: .newest)
    try await remote.save(record("1", ["title": "Emma", "pages": 1]))
    _ = try await mirror.sync.run().get()
    try await pair.local.save(record("1", ["title": "2001"]))
    try await date(pair, 2001)
    try await remote.save(record("1", ["pages": 2]))
    let before = try #require(try await remote.record(id("1"))?.modified)
    _ = try await mirror.sync.run().get()
    let after = try #require(try await remote.record(id("1")))
    #expect(after["title"] == "2001" && after["pages"] == 2)
    #expect(after.modified == before)
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
}
