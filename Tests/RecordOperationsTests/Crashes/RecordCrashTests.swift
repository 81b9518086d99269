import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import TestSupport
import Testing

/// Kills a process at random times, and checks that it leaves whole batches.
///
/// `COMPOSITE_SOAK_SECONDS=600` kills a thousand processes for each test.
@Suite struct RecordCrashTests {
  private static var count: Int {
    if ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"] != nil { return 1_000 }
    #if DEBUG || SANITIZER
      return 5
    #else
      return 30
    #endif
  }

  /// Runs a process, kills it after some rounds and a random delay, and checks the remaining files.
  private func crash(
    _ work: String, _ check: (_ folder: TemporaryFolder, _ done: Int) async throws -> Void
  ) async throws {
    for attempt in 0..<Self.count {
      let folder = try TemporaryFolder()
      let delay = Duration.microseconds(Int.random(in: 0...20_000))
      let process = CrashingProcess(work: work, folder: folder.path)
      do {
        let done = try await process.runAndKill(afterRounds: attempt % 4, delay: delay)
        try await check(folder, done)
      } catch { Issue.record("attempt \(attempt), \(delay): \(error)") }
    }
  }

  private func count(_ sql: String, in database: SQLiteRecordDatabase) async throws -> Int {
    try await database.read { try $0.fetchOne(sql) { Int($0.integer(at: 0)) } ?? -1 }
  }

  /// - Returns: The database, or nil if it has no table and no round was completed.
  private func wholeDatabase(
    in folder: TemporaryFolder, _ done: Int
  ) async throws -> SQLiteRecordDatabase? {
    let database = SQLiteRecordDatabase(folder.file())
    let problems = try await database.read { connection in
      try connection.fetchAll("PRAGMA integrity_check") { $0.text(at: 0) }
        + connection.fetchAll("PRAGMA foreign_key_check") { $0.text(at: 0) }
    }
    #expect(problems == ["ok"])
    let exists = try await database.read { try $0.table("Row") != nil }
    #expect(exists || done == 0)
    return exists ? database : nil
  }

  @Test(.timeLimit(.minutes(10)))
  func `D2: a process killed during a save leaves whole batches, including those it reported`()
    async throws
  {
    try await crash("save") { folder, done in
      guard let database = try await wholeDatabase(in: folder, done) else { return }
      let partialBatches = try await count(
        "SELECT count(*) FROM (SELECT 1 FROM Row GROUP BY round HAVING count(*) <> 20)",
        in: database)
      let saved = try await count("SELECT count(*) FROM Row", in: database)
      #expect(partialBatches == 0 && saved >= done * 20)
      let states = try await count("SELECT count(*) FROM _record_states", in: database)
      #expect(states == saved)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `D11: a process killed during an import leaves whole transactions`() async throws {
    try await crash("import") { folder, done in
      guard let database = try await wholeDatabase(in: folder, done) else { return }
      let partialBatches = try await count(
        "SELECT count(*) FROM (SELECT 1 FROM Row GROUP BY round, batch HAVING count(*) <> 100)",
        in: database)
      let rows = try await count("SELECT count(*) FROM Row", in: database)
      #expect(partialBatches == 0 && rows >= done * 1_000)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `M2: a process killed during a round leaves two files that become equal, with each edit`()
    async throws
  {
    try await crash("mirror") { folder, done in
      let local = SQLiteRecordDatabase(folder.file())
      let remote = SQLiteRecordDatabase(folder.file("remote.sqlite"))
      let mirror = RecordMirror(of: ["Row"], in: local, with: remote)
      _ = try await mirror.sync.run().get()
      #expect(try await mirror.sync.run().get().isEmpty)
      let databases: [any RecordDatabase] = [local, remote]
      for database in databases {
        let rows = try await database.all(RecordQuery("Row"))
        for row in rows where row["here"] != .null && !row.id.name.hasPrefix("new") {
          // The last round that was completed, or one after it.
          guard let name = Int(row.id.name), case .integer(let here) = row["here"] else { continue }
          let last = (0..<done).last { $0 % 7 == name }
          #expect(last.map { here >= $0 } ?? true, "\(row)")
        }
        // The record of the last round, or of the two around the kill.
        let new = rows.filter { $0.id.name.hasPrefix("new") }
        #expect(new.count <= 2 && (done == 0 || !new.isEmpty))
      }
      let contents = try await databases.asyncMap { database in
        try await database.all(RecordQuery("Row")).map { row in
          "\(row.id) \(row["here"]) \(row["there"])"
        }.sorted()
      }
      #expect(contents[0] == contents[1])
      let problems = try await local.read { connection in
        try connection.fetchAll("PRAGMA integrity_check") { $0.text(at: 0) }
      }
      #expect(problems == ["ok"])
      #expect(try await mirror.lostValues() == [])
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `D10: a process killed during an export leaves a complete file`() async throws {
    try await crash("export") { folder, done in
      guard try await wholeDatabase(in: folder, done) != nil else { return }
      guard let data = FileManager.default.contents(atPath: folder.file("out.csv")) else {
        #expect(done == 0)
        return
      }
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
      let rounds = Set(lines.dropFirst().map { $0.split(separator: ",").last ?? "" })
      #expect(lines.count == 3_001 && rounds.count == 1)
      #expect(Int(rounds.first ?? "").map { $0 + 1 >= done } == true)
    }
  }
}

/// A process that repeats its work until it is killed.
private struct CrashingProcess {
  let work: String
  let folder: String

  /// - Returns: The number of rounds that the process has reported as completed.
  func runAndKill(afterRounds count: Int, delay: Duration) async throws -> Int {
    // It blocks, so it does not run on a thread of Swift's tasks.
    try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread {
        waiter.resume(with: Result { try runAndKillBlocking(afterRounds: count, delay: delay) })
      }
    }
  }

  private func runAndKillBlocking(afterRounds count: Int, delay: Duration) throws -> Int {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appendingPathComponent("RecordCrashes")
    try #require(
      FileManager.default.isExecutableFile(atPath: program.path),
      "\(program.path) is missing; run `swift build --build-tests`")
    let output = Pipe()
    let process = try TestProgram(program.path, [work, folder])
      .start(output: output.fileHandleForWriting)
    try output.fileHandleForWriting.close()
    let file = output.fileHandleForReading
    var received = Data()
    let lines = { received.count { $0 == UInt8(ascii: "\n") } }
    // The output ends early if the process has ended by itself.
    while lines() < count, let bytes = try file.read(upToCount: 2) { received += bytes }
    usleep(UInt32(delay / .microseconds(1)))
    kill(process.processIdentifier, SIGKILL)
    received += try file.readToEnd() ?? Data()
    // It must have ended by this signal, not by itself.
    let signal = process.waitUntilExit()
    try #require(signal == SIGKILL, "\(signal)")
    return lines()
  }
}
