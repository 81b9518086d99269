import CompositeOperations
import Dispatch
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct MirrorPullTests {
  @Test func `M6: no reader sees an emptied table while all records are fetched again (X47)`()
    async throws
  {
    let pair = try MirrorPair(limits: RecordLimits(page: 2))
    for number in 0..<9 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    try await pair.sync()
    _ = try await pair.base.modify(RecordBatch([.delete(id("4"), ifTagged: nil)]))
    pair.base.forgetDeletions()
    let (local, base) = (pair.local, pair.base)
    let counts = Lock<[Int]>([])
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
    let failing = Lock<Int?>(3)
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
    let base = Lock<MemoryRecordDatabase?>(nil)
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

  @Test(.timeLimit(.minutes(10)))
  func `M6: the next changes are fetched while changes are stored`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let pages = Lock<Int?>(nil)
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

  @Test func `M6: triggers of other programs run for fetched records, whatever their names`()
    async throws
  {
    let pair = try MirrorPair()
    try await pair.local.save(record("0", ["title": "Emma"]))
    try await pair.execute(
      "CREATE TABLE Log (title TEXT)",
      """
      CREATE TRIGGER _record_mine AFTER INSERT ON Book BEGIN INSERT INTO Log VALUES (NEW.title); END
      """)
    for title in ["Persuasion", "Sanditon"] {
      try await pair.base.save(record(title, ["title": .string(title)]))
    }
    #expect(try await pair.sync().saved == 2)
    let logged = try await pair.local.read { connection in
      try connection.fetchAll("SELECT title FROM Log ORDER BY title") { $0.text(at: 0) }
    }
    #expect(logged == ["Persuasion", "Sanditon"])
  }

  @Test func `M6: fetched records have the same states as saved ones`() async throws {
    let pair = try MirrorPair()
    let records = ["a", "it's", "a\0b", "\u{e9}", "e\u{301}"].map { record($0, ["title": "Emma"]) }
    // The file knows a deletion that no mirror has seen.
    try await pair.local.save(records[0])
    _ = try await pair.local.modify(RecordBatch([.delete(records[0].id, ifTagged: nil)]))
    for record in records { try await pair.base.save(record) }
    #expect(try await pair.sync().saved == 5)
    let other = try MirrorPair()
    for record in records { try await other.local.save(record) }
    var states: [[String]] = []
    for local in [pair.local, other.local] {
      states.append(
        try await local.read { connection in
          try connection.fetchAll(
            """
            SELECT type, hex(name), deleted, modified LIKE '20__-__-__T__:__:__.___Z' \
            FROM "_record_states" ORDER BY 2
            """
          ) { row in (0..<4).map { row.text(at: $0) ?? "" }.joined(separator: " ") }
        })
      let changes = try await local.changes(since: nil, in: .default)
      #expect(Set(changes.changed.map(\.id)) == Set(records.map(\.id)) && changes.deleted.isEmpty)
    }
    #expect(states[0] == states[1] && states[0].count == 5)
    #expect(states[0].allSatisfy { $0.hasPrefix("Book ") && $0.hasSuffix(" 0 1") })
  }

  @Test func `M6: the log of the local file is emptied after a pull that fails`() async throws {
    let text = FieldValue.string(String(repeating: "x", count: 1_000_000))
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
    // Some transactions were committed, and a write without changes leaves the log empty.
    let count = try await pair.local.write {
      try $0.fetchOne("SELECT count(*) FROM Book") { $0.integer(at: 0) }
    }
    #expect(count == 12)
    #expect(fileSize(pair.folder.file() + "-wal") == 0)
  }

  @Test func `M6: the log is copied to the local file while changes are stored`() async throws {
    let file = Lock("")
    let pair = try MirrorPair(limits: RecordLimits(page: 2), transactionSize: 2) { _, number in
      if number != 10 { return nil }
      // The copy may be a moment behind.
      let (path, end) = (file.withLock(\.self), ContinuousClock.now + .seconds(20))
      while fileSize(path) ?? 0 < 1_000_000, ContinuousClock.now < end { await Task.yield() }
      return fileSize(path) ?? 0 < 1_000_000 ? .refusing(RecordError(.notPermitted("no"))) : nil
    }
    file.withLock { $0 = pair.folder.file() }
    let text = FieldValue.string(String(repeating: "x", count: 1_000_000))
    for number in 0..<20 { try await pair.base.save(record("\(number)", ["title": text])) }
    #expect(try await pair.sync().saved == 20)
    #expect(fileSize(pair.folder.file() + "-wal") == 0)
    // The last connection deletes the log when it closes.
    await pair.local.close()
    #expect(fileSize(pair.folder.file() + "-wal") == nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func `M6: a pull that is cancelled does not wait until other tasks have written`() async throws {
    let (fetched, fetch) = AsyncStream.makeStream(of: Void.self)
    let pair = try MirrorPair(limits: RecordLimits(page: 2), transactionSize: 2) { _, number in
      if number == 6 {
        fetch.yield()
        try? await Task.sleep(for: .seconds(600))
      }
      return nil
    }
    for number in 0..<20 { try await pair.base.save(record("\(number)", ["title": "Emma"])) }
    let run = pair.mirror.sync.start()
    for await _ in fetched { break }
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (gate, local) = (DispatchSemaphore(value: 0), pair.local)
    let writer = Task {
      try await local.write { _ in
        begin.yield()
        return gate.wait(timeout: .now() + 20) == .success
      }
    }
    for await _ in begun { break }
    run.cancel()
    guard case .cancelled = await run.outcome else {
      Issue.record("the round must be cancelled")
      return
    }
    gate.signal()
    #expect(try await writer.value, "the round has waited for the other task")
  }

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
}

private func fileSize(_ path: String) -> Int? {
  try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
}
