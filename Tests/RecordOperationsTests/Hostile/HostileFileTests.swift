import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// Malicious and damaged files. Each one has the right result or an error with the reason, and no
/// data is lost.
@Suite struct HostileFileTests {
  @Test func `there are at least a hundred files, with unique names`() {
    let names = HostileFile.all.map(\.name) + DamagedDatabase.all.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 100, "\(names.count)")
  }

  @Test(arguments: HostileFile.all)
  func `a hostile file is imported correctly or refused`(file: HostileFile) async throws {
    let folder = try TemporaryFolder()
    try execute(
      [
        "CREATE TABLE T (a, b TEXT, n INTEGER)", "CREATE TABLE Sacred (x)",
        "INSERT INTO Sacred VALUES (1), (2), (3)", "INSERT INTO T VALUES ('old', 'row', 1)",
      ], in: folder.file())
    try Data(file.bytes).write(to: URL(fileURLWithPath: folder.file("in")))
    let database = SQLiteRecordDatabase(folder.file())
    let outcome = await ImportRecords(
      "T", into: database, from: folder.file("in"), as: file.format,
      badRows: .skipped(atMost: 1_000_000)
    ).run()
    var added = 0
    switch (outcome, file.expectation) {
    case (.result(let imported), .rows(let count, let lines)):
      #expect(imported.recordCount == count, "\(imported.problems.prefix(3))")
      #expect(imported.problems.map(\.line) == lines, "\(imported.problems.prefix(3))")
      #expect(imported.problems.allSatisfy { !$0.text.isEmpty && $0.text.utf8.count < 600 })
      added = imported.recordCount
    case (.error(let error), .error(let text)):
      #expect("\(error)".contains(text) && "\(error)".utf8.count < 1_500, "\(error)")
    case (.result, _), (.error, _), (.cancelled, _): Issue.record("\(outcome)")
    }
    #expect(try await database.all(RecordQuery("Sacred")).map { $0["x"] } == [1, 2, 3])
    #expect(try await database.all(RecordQuery("T")).count == added + 1)
    // The imported rows are exported and imported again without a difference.
    guard added > 0 else { return }
    let out = folder.file("out.csv")
    _ = try await ExportRecords("T", in: database, to: out, as: .csv).run().get()
    try execute(["CREATE TABLE U AS SELECT * FROM T", "DELETE FROM T"], in: folder.file())
    let again = try await ImportRecords("T", into: database, from: out, as: .csv).run().get()
    #expect(again.recordCount == added + 1)
    let differing = try await database.read { connection in
      // In a column without a type, numbers are imported again as texts.
      try connection.fetchAll(
        "SELECT 1 FROM (SELECT CAST(a AS TEXT), b, n FROM T EXCEPT SELECT CAST(a AS TEXT), b, n FROM U)"
      ) { _ in 1 }.count
    }
    #expect(differing == 0)
  }

  @Test(arguments: DamagedDatabase.all)
  func `a damaged database is read or reported as an error, and reading does not change it`(
    damage: DamagedDatabase
  )
    async throws
  {
    let folder = try TemporaryFolder()
    let path = try damage.make(in: folder)
    let before = FileManager.default.contents(atPath: path)
    try Data("a,b\n1,2\n".utf8).write(to: URL(fileURLWithPath: folder.file("in.csv")))
    let options = SQLiteOptions(access: .readOnly, busyTimeout: .milliseconds(20))
    let reader = SQLiteRecordDatabase(path, options)
    let query = await QueryRecords("T", in: reader, retries: .none).run()
    let export = await ExportRecords("T", in: reader, to: folder.file("out"), as: .csv).run()
    expectClear(query.error, isResult: query.result != nil)
    expectClear(export.error, isResult: export.result != nil)
    // Reading changes nothing.
    if damage.isFile { #expect(FileManager.default.contents(atPath: path) == before) }
    if export.error != nil { #expect(!folder.hasFile("out")) }
    let writer = SQLiteRecordDatabase(
      path, SQLiteOptions(access: .existing, busyTimeout: .milliseconds(20)))
    let load = await ImportRecords(
      "T", into: writer, from: folder.file("in.csv"), as: .csv
    ).run()
    expectClear(load.error, isResult: load.result != nil)
    switch damage.expectation {
    case .any: break
    case .error: #expect(query.error != nil && export.error != nil && load.error != nil)
    case .result: #expect(query.result != nil && export.result != nil)
    }
  }

  private func expectClear(_ error: (any Error)?, isResult: Bool) {
    guard let error else {
      #expect(isResult)
      return
    }
    #expect(
      error is RecordError || error is RecordQueryError || error is RecordFileError
        || error is RecordImportError || (error as? FieldValueError)?.row != nil, "\(error)")
    #expect("\(error)".utf8.count > 20, "\(error)")
  }
}

extension TemporaryFolder {
  fileprivate func hasFile(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: file(name))
  }
}

// MARK: Disks and columns

extension HostileFileTests {
  @Test(arguments: [2_000, 5_000])
  func `a file with thousands of columns is imported, or refused above SQLite's limit`(count: Int)
    async throws
  {
    let folder = try TemporaryFolder()
    let names = (1..<count).map { "c\($0)" }
    let text = names.joined(separator: ",") + "\n" + names.joined(separator: ",") + "\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("in")))
    let database = SQLiteRecordDatabase(folder.file())
    let outcome = await ImportRecords("T", into: database, from: folder.file("in"), as: .csv).run()
    if count == 2_000 {
      #expect(outcome.result?.recordCount == 1)
      let out = folder.file("out")
      _ = try await ExportRecords("T", in: database, columns: names, to: out, as: .csv).run().get()
      #expect(try String(contentsOfFile: out, encoding: .utf8) == text)
    } else {
      let text = "\(try #require(outcome.error))"
      #expect(
        text.contains("T would have too many columns: 5000 (SQLite allows at most 2000)")
      )
      #expect(try await database.read { try $0.tables() } == [])
    }
  }

  @Test func `a full disk rolls back an import, and the old rows remain`() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try execute(
        ["CREATE TABLE T (a TEXT)", "INSERT INTO T VALUES ('old')"], in: folder.file())
      let rows = String(repeating: String(repeating: "x", count: 1_000) + "\n", count: 2_000)
      try Data("a\n\(rows)".utf8).write(to: URL(fileURLWithPath: folder.file("in")))
      // A limit for the size of files simulates a full disk.
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 500_000, rlim_max: 500_000)
      if unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) != 0 { exit(2) }
      let database = SQLiteRecordDatabase(folder.file())
      let load = ImportRecords("T", into: database, from: folder.file("in"), as: .csv)
      guard let error = await load.run().error as? RecordError, case .storage = error.reason else {
        exit(3)
      }
      let found = try await QueryRecords("T", in: database).run().get()
      if found.map({ $0["a"] }) != ["old"] { exit(4) }
      let export = ExportRecords("T", in: database, to: folder.file("out"), as: .csv)
      if await export.run().result?.recordCount != 1 { exit(5) }
    }
  }
}
