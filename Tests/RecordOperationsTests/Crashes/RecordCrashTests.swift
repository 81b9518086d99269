import Foundation
import RecordOperations
import TestPrograms
import Testing

/// A process that is killed at any moment leaves whole batches.
///
/// `COMPOSITE_SOAK_SECONDS=600` has them killed a thousand times.
@Suite struct RecordCrashTests {
  private static var count: Int {
    if ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"] != nil { return 1_000 }
    #if DEBUG || SANITIZER
      return 5
    #else
      return 30
    #endif
  }

  /// Has somebody work, kills him after so many rounds and a moment more, and looks at what is left.
  private func crash(
    _ work: String, _ check: (_ folder: TemporaryFolder, _ done: Int) async throws -> Void
  ) async throws {
    for attempt in 0..<Self.count {
      let folder = try TemporaryFolder()
      let moment = Duration.microseconds(Int.random(in: 0...20_000))
      let victim = Victim(work: work, folder: folder.path)
      do {
        let done = try await victim.killed(after: attempt % 4, and: moment)
        try await check(folder, done)
      } catch { Issue.record("attempt \(attempt), \(moment): \(error)") }
    }
  }

  private func count(_ sql: String, in database: SQLiteRecordDatabase) async throws -> Int {
    try await database.read { try $0.first(sql) { Int($0.integer(at: 0)) } ?? -1 }
  }

  /// - Returns: Nil if it has no table yet, which must not be so where something was done.
  private func wholeDatabase(
    in folder: TemporaryFolder, _ done: Int
  ) async throws -> SQLiteRecordDatabase? {
    let database = SQLiteRecordDatabase(folder.file())
    let problems = try await database.read { connection in
      try connection.rows("PRAGMA integrity_check") { $0.text(at: 0) }
        + connection.rows("PRAGMA foreign_key_check") { $0.text(at: 0) }
    }
    #expect(problems == ["ok"])
    let isThere = try await database.read { try $0.table("Row") != nil }
    #expect(isThere || done == 0)
    return isThere ? database : nil
  }

  @Test(.timeLimit(.minutes(10)))
  func `D2: a process killed during a save leaves whole batches, including those it reported`()
    async throws
  {
    try await crash("save") { folder, done in
      guard let database = try await wholeDatabase(in: folder, done) else { return }
      let halves = try await count(
        "SELECT count(*) FROM (SELECT 1 FROM Row GROUP BY round HAVING count(*) <> 20)",
        in: database)
      let saved = try await count("SELECT count(*) FROM Row", in: database)
      #expect(halves == 0 && saved >= done * 20)
      let states = try await count("SELECT count(*) FROM _record_states", in: database)
      #expect(states == saved)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `D11: a process killed during an import leaves whole transactions`() async throws {
    try await crash("import") { folder, done in
      guard let database = try await wholeDatabase(in: folder, done) else { return }
      let halves = try await count(
        "SELECT count(*) FROM (SELECT 1 FROM Row GROUP BY round, batch HAVING count(*) <> 100)",
        in: database)
      let rows = try await count("SELECT count(*) FROM Row", in: database)
      #expect(halves == 0 && rows >= done * 1_000)
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

/// Somebody who works until he is killed.
private struct Victim {
  let work: String
  let folder: String

  /// - Returns: How many rounds he had said to be done.
  func killed(after count: Int, and moment: Duration) async throws -> Int {
    // Not on a thread of Swift's tasks, because it blocks.
    try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread {
        waiter.resume(with: Result { try killNow(after: count, and: moment) })
      }
    }
  }

  private func killNow(after count: Int, and moment: Duration) throws -> Int {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let program = tests.deletingLastPathComponent().appendingPathComponent("RecordCrashes")
    try #require(
      FileManager.default.isExecutableFile(atPath: program.path),
      "\(program.path) is missing; `swift build --build-tests` makes it.")
    let output = Pipe()
    let process = try TestProgram(program.path, [work, folder])
      .start(output: output.fileHandleForWriting)
    try output.fileHandleForWriting.close()
    let file = output.fileHandleForReading
    var said = Data()
    let lines = { said.count { $0 == UInt8(ascii: "\n") } }
    // At the end of his output there is nobody to be killed any more.
    while lines() < count, let bytes = try file.read(upToCount: 2) { said += bytes }
    usleep(UInt32(moment / .microseconds(1)))
    kill(process.processIdentifier, SIGKILL)
    said += try file.readToEnd() ?? Data()
    // What has ended it.
    let signal = process.waitUntilExit()
    try #require(signal == SIGKILL, "\(signal)")
    return lines()
  }
}
