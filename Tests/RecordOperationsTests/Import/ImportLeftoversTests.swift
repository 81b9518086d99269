import CompositeOperations
import Foundation
import RecordOperations
import SQLiteSupport
import Testing

/// The files on the disk after an import.
@Suite(.timeLimit(.minutes(10))) struct ImportLeftoversTests {
  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase
  private var source: String { folder.file("in.csv") }

  init() throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file())
  }

  private func load(
    from path: String? = nil, into type: String = "T", as format: ImportFormat = .csv,
    rowsPerTransaction: Int? = nil
  ) async -> Outcome<ImportedFile> {
    await ImportRecords(
      type, into: database, from: path ?? source, as: format, rowsPerTransaction: rowsPerTransaction
    ).run()
  }

  private func write(_ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: source))
  }

  // MARK: The log

  enum Termination: CaseIterable { case result, fullDisk, badRow, cancellation }

  @Test(arguments: Termination.allCases)
  func `D11: an import leaves no large log, whatever its outcome`(termination: Termination)
    async throws
  {
    _ = try await database.save(record("first", type: "Other"))
    _ = try await database.write { try $0.execute("CREATE TABLE T (a TEXT)") }
    // A small cache causes large transactions to be written to the log before they end.
    _ = try await database.write { try $0.execute("PRAGMA cache_size = 10") }
    if termination == .fullDisk {
      _ = try await database.write { try $0.fetchOne("PRAGMA max_page_count = 2500") { _ in } }
    }
    let row = String(repeating: "x", count: 4_000) + "\n"
    let rows = "a\n" + String(repeating: row, count: 3_000)
    if termination == .cancellation {
      let outcome = await outcomeOfCancelling(after: rows)
      #expect(outcome.isCancelled)
    } else {
      try write(rows + (termination == .badRow ? "\"x\"y\n" : ""))
      #expect((await load().result == nil) == (termination != .result))
    }
    let size = try FileManager.default.attributesOfItem(atPath: folder.file() + "-wal")[.size]
    #expect(try #require(size as? Int) == 0)
    #expect(try await database.all(RecordQuery("Other")).count == 1)
  }

  private func outcomeOfCancelling(after rows: String) async -> Outcome<ImportedFile> {
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv).start()
    // After these rows, the import waits for more.
    await withCheckedContinuation { written in
      Thread.detachNewThread {
        let writer = FileHandle(forWritingAtPath: pipe)
        try? writer?.write(contentsOf: Data(rows.utf8))
        run.cancel()
        try? writer?.close()
        written.resume()
      }
    }
    return await run.outcome
  }

  @Test(.enabled(if: MountShell.isAvailable, "This process may not mount file systems."))
  func `D11: an import that fills the disk frees the space again`() async throws {
    let row = String(repeating: "x", count: 4_000) + "\n"
    try write("a\n" + String(repeating: row, count: 8_000))
    let script = """
      mkdir "$1/disk"
      mount -t tmpfs -o size=24m none "$1/disk"
      "$2" fill "$1/disk" "$1/in.csv"
      """
    let lines = try await MountShell.lines(script, folder.path, MountShell.recordProgram)
    #expect(lines.first?.contains("is full") == true)
    #expect(lines.dropFirst() == ["0", "[\"records.sqlite\"]", "1"], "\(lines)")
  }

  /// Records that are only in the log cannot be copied to the file once an import has filled the
  /// disk.
  @Test func `D11: the log is copied to the file before a large import begins`()
    async throws
  {
    let text = FieldValue.string(String(repeating: "x", count: 1_000))
    for number in 0..<100 { try await database.save(record("\(number)", ["text": text])) }
    let size = { try FileManager.default.attributesOfItem(atPath: folder.file())[.size] as? Int }
    try #require(try size() ?? 0 < 50_000)
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    // The size of a pipe's contents is unknown in advance.
    let run = ImportRecords("T", into: database, from: pipe, as: .csv)
      .onProgress { _ in report.yield() }.start()
    let writer = try #require(await writer(of: pipe))
    try writer.write(contentsOf: Data("a\n1\n".utf8))
    for await _ in reports { break }
    #expect(try size() ?? 0 > 100_000)
    try writer.close()
    #expect(await run.outcome.result?.recordCount == 1)
  }

  @Test func `D11: a transaction that is rolled back leaves no large log`() async throws {
    _ = try await database.save(record("first"))
    let books = (0..<20).map { part in
      (0..<100).map { number in
        record("\(part)-\(number)", ["text": .string(String(repeating: "x", count: 20_000))])
      }
    }
    let outcome = await TransactionOperation(in: database) { transaction in
      SimpleOperation.withContext { context in
        for records in books {
          _ = try await context.run(SaveRecords(records, in: transaction))
        }
        throw RecordError(.limitExceeded)
      }
    }.run()
    #expect(outcome.error != nil)
    let size = try FileManager.default.attributesOfItem(atPath: folder.file() + "-wal")[.size]
    #expect(try #require(size as? Int) == 0)
  }

  // MARK: The file

  enum Failure: CaseIterable {
    case missing, folder, forbidden, empty, header, badRow, tooManyColumns, table
  }

  @Test(arguments: Failure.allCases)
  func `D11: a failed import leaves no new database`(failure: Failure) async throws {
    try write("a\n1\n")
    var (path, type) = (source, "T")
    switch failure {
    case .missing: path = folder.file("no")
    case .folder: path = folder.path
    case .forbidden:
      path = "/proc/self/mem"
      try write("")
    case .empty: try write("")
    case .header: try write("a,a\n1,2\n")
    case .badRow: try write("a\n1\n2,3\n")
    case .tooManyColumns:
      try write((0...2_000).map { "c\($0)" }.joined(separator: ",") + "\n")
    case .table: type = "sqlite_x"
    }
    #expect(await load(from: path, into: type).error != nil)
    #expect(try folder.names == ["in.csv"])
    // The database remains usable.
    try write("a\n1\n")
    #expect(await load().result?.recordCount == 1)
    #expect(try folder.names.contains("records.sqlite"))
  }

  @Test func `D11: a cancelled import leaves no new database`() async throws {
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
    try writer.write(contentsOf: Data("a\n2\n3\n".utf8))
    let (reports, report) = AsyncStream.makeStream(of: Void.self)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv)
      .onProgress { _ in report.yield() }.start()
    for await _ in reports { break }
    #expect(try folder.names.contains("records.sqlite"))
    run.cancel()
    #expect(await run.outcome.isCancelled)
    try writer.close()
    #expect(try folder.names == ["pipe"])
  }

  @Test func `D11: a file that existed before the import is not removed`() async throws {
    try write("a,a\n1,2\n")
    // An empty file is a database without tables.
    try Data().write(to: URL(fileURLWithPath: folder.file()))
    #expect(await load().error != nil)
    #expect(try folder.names.contains("records.sqlite"))
    await database.close()
    // The target of a link is not removed either.
    let other = folder.file("other")
    try FileManager.default.removeItem(atPath: folder.file())
    try FileManager.default.createSymbolicLink(atPath: folder.file(), withDestinationPath: other)
    #expect(await load().error != nil)
    await database.close()
    #expect(try Set(folder.names).isSuperset(of: ["other", "records.sqlite"]))
  }

  @Test func `D11: a new file is kept if rows were inserted`() async throws {
    try write("a\n1\n2\n3,4\n")
    let error = await load(rowsPerTransaction: 1).error as? RecordImportError
    #expect(error?.recordCount == 2)
    #expect(try await database.all(RecordQuery("T")).count == 2)
  }

  /// Opens a pipe for writing as soon as it is read, without blocking a thread of Swift's tasks.
  private func writer(of pipe: String) async -> FileHandle? {
    await withCheckedContinuation { opened in
      Thread.detachNewThread { opened.resume(returning: FileHandle(forWritingAtPath: pipe)) }
    }
  }

  /// Runs an import into a new file. The import fails after the body has run.
  private func failing(after body: () async throws -> Void) async throws {
    let pipe = folder.file("pipe")
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let run = ImportRecords("T", into: database, from: pipe, as: .csv).start()
    // The import creates the database before it opens the pipe.
    let writer = try #require(await writer(of: pipe))
    try await body()
    try writer.write(contentsOf: Data("a,a\n".utf8))
    try writer.close()
    #expect(await run.outcome.error is RecordFileError)
  }

  @Test(arguments: [true, false])
  func `D11: a new file is kept if another connection uses it`(hasTable: Bool) async throws {
    let other = SQLiteRecordDatabase(folder.file())
    try await failing {
      if hasTable {
        try await other.save(record("1"))
        await other.close()
      } else {
        #expect(try await other.all(RecordQuery("Book")).isEmpty)
      }
    }
    #expect(try folder.names.contains("records.sqlite"))
    try await other.save(record("2"))
    #expect(try await database.all(RecordQuery("Book")).count == (hasTable ? 2 : 1))
  }

  @Test func `D11: a removed file is unusable for a program that still has it open`()
    async throws
  {
    var opened: FileHandle?
    try await failing {
      opened = FileHandle(forReadingAtPath: folder.file())
    }
    #expect(try folder.names == ["pipe"])
    let beginning = try #require(try opened?.read(upToCount: 16))
    #expect(String(decoding: beginning, as: UTF8.self) == "This database wa")
  }
}
