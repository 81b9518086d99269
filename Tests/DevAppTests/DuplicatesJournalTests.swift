import Foundation
import SQLiteSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DuplicatesJournalTests {
  /// A moment at which a search is killed.
  enum Moment: Sendable, CustomTestStringConvertible {
    /// Before a step is in the journal.
    case step(Int)
    /// Before the result of a part of a step is in the journal.
    case part(String, ofStep: Int)
    /// After the last step, before the run has ended.
    case end

    var testDescription: String {
      switch self {
      case .step(let number): "step \(number)"
      case .part(let key, let number): "part \(key) of step \(number)"
      case .end: "the end"
      }
    }

    var finishedSteps: Int {
      switch self {
      case .step(let number), .part(_, let number): number
      case .end: 5
      }
    }

    /// The event in the journal, as SQL.
    fileprivate var event: String {
      switch self {
      case .step(let number):
        "BEFORE INSERT ON step WHEN NEW.key = '' AND NEW.position = \(number)"
      case .part(let key, let number):
        "BEFORE INSERT ON step WHEN NEW.key = '\(key)' AND NEW.position = \(number)"
      case .end: "BEFORE UPDATE ON run WHEN NEW.ended IS NOT NULL"
      }
    }
  }

  static let moments: [Moment] =
    (0..<5).map { .step($0) } + [
      .part("1", ofStep: 1), .part("0", ofStep: 3), .part("1", ofStep: 4), .part("3", ofStep: 4),
      .end,
    ]

  #if os(Linux)
    @Test(.timeLimit(.minutes(10)), arguments: moments)
    func `a search that is killed continues and prints the same result`(
      moment: Moment
    ) async throws {
      let folder = try tree()
      let files = try TemporaryFolder()
      let expected = try await Program.devApp("duplicates", folder.path).run()
      #expect(expected.text.components(separatedBy: "files of").count == 5)
      let journal = try await journal(in: files, stoppedAt: moment)
      let search = Program.devApp("duplicates", "--journal", journal, folder.path)
      let killed = try await search.run { process in
        try await waitUntilStopped(journal)
        kill(process, SIGKILL)
      }
      #expect(killed.status == SIGKILL)
      #expect(killed.output.isEmpty)
      try resume(journal)
      let continued = try await search.run()
      #expect(continued.status == 0)
      #expect(continued.text == expected.text)
      let count = moment.finishedSteps
      let note = " after \(count) finished step\(count == 1 ? "" : "s")\n"
      #expect(continued.error.contains("DevApp duplicates: continues run duplicates-"))
      #expect(continued.error.contains(note), "\(continued.error)")
    }

    @Test(.timeLimit(.minutes(10)))
    func `finished steps are not repeated, and a search after the end begins afresh`()
      async throws
    {
      let folder = try tree()
      let files = try TemporaryFolder()
      let before = try await Program.devApp("duplicates", folder.path).run()
      let journal = try await journal(in: files, stoppedAt: .step(4))
      let search = Program.devApp("duplicates", "--journal", journal, folder.path)
      _ = try await search.run { process in
        try await waitUntilStopped(journal)
        kill(process, SIGKILL)
      }
      try folder.write("new", to: "new 1")
      try folder.write("new", to: "new 2")
      try resume(journal)
      #expect(try await search.run().text == before.text)
      let afresh = try await search.run()
      #expect(afresh.error.contains("which has ended; the search starts again\n"))
      #expect(
        afresh.text == before.text + "\n2 files of 3 bytes:\n"
          + "  \(folder.path)/new 1\n  \(folder.path)/new 2\n")
    }

    @Test(.timeLimit(.minutes(10)), arguments: terminationSignals)
    func `a search that is interrupted says how it continues`(number: Int32) async throws {
      let folder = try tree()
      for name in ["huge 1", "huge 2"] {
        let file = try FileHandle(forWritingTo: folder.write("", to: name))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
      }
      let files = try TemporaryFolder()
      let journal = try await journal(in: files)
      var search = Program.devApp("duplicates", "--journal", journal, folder.path)
      search.isNice = true
      let interrupted = try await search.run { process in
        try await eventually { (try? steps(in: journal)) == 4 }
        kill(process, number)
      }
      #expect(interrupted.status == 128 + number)
      #expect(interrupted.error.contains("interrupted; the same command continues run duplicates-"))
      #expect(interrupted.error.contains(" in \(journal), after its last finished step\n"))
      // Another process need not wait for the end of this one.
      let listed = try await Program.coop("journal", journal, "list", "--json").run()
      #expect(listed.text.contains("\"state\":\"ready\""), "\(listed.text)")
      for name in ["huge 1", "huge 2"] {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
      }
      let continued = try await search.run()
      #expect(continued.status == 0)
      #expect(continued.error.contains(" after 4 finished steps\n"))
      #expect(continued.error.contains("changed during the search: \(folder.path)/huge 1\n"))
      #expect(try await continued.text == Program.devApp("duplicates", folder.path).run().text)
    }
  #endif

  @Test func `names and problems are the same with a journal`() async throws {
    let folder = try TemporaryFolder()
    let names: [[UInt8]] = [
      Array("new\nline".utf8), Array("100%25".utf8), [0x66, 0xFF, 0x25, 0x41], Array("ü 🎉".utf8),
      Array(" two  spaces ".utf8),
    ]
    for name in names {
      let path = Array(folder.path.utf8) + [UInt8(ascii: "/")] + name + [0]
      let file = unsafe path.withUnsafeBufferPointer { path in
        unsafe path.withMemoryRebound(to: CChar.self) { unsafe fopen($0.baseAddress, "w") }
      }
      guard let opened = unsafe file else { throw CocoaError(.fileWriteUnknown) }
      // Longer than a first block, so that every step handles the names.
      unsafe fputs(String(repeating: "contents", count: 1_000), opened)
      unsafe fclose(opened)
    }
    let files = try TemporaryFolder()
    let plain = try await Report(Program.devApp("duplicates", "--json", folder.path).run())
    let journaled = try await Report(
      Program.devApp("duplicates", "--json", "--journal", files.path + "/j", folder.path).run())
    #expect(plain.groups.map(\.files.count) == [5])
    #expect(journaled.groups.map(\.files) == plain.groups.map(\.files))
    #expect(journaled.totals.files == plain.totals.files)
  }

  @Test func `many groups are compared in batches with the same result`() async throws {
    let folder = try TemporaryFolder()
    for index in 0..<1_100 {
      for copy in ["a", "b"] {
        try folder.write(String(repeating: "x", count: index) + "\(index)", to: "\(copy)\(index)")
      }
    }
    let files = try TemporaryFolder()
    let plain = try await Program.devApp("duplicates", folder.path).run()
    let journaled = try await Program.devApp(
      "duplicates", "--journal", files.path + "/j", folder.path
    ).run()
    #expect(plain.text.components(separatedBy: "2 files of").count == 1_101)
    #expect(journaled.text == plain.text)
  }

  @Test func `an error is the same with a journal, and is searched again`() async throws {
    let files = try TemporaryFolder()
    let missing = files.path + "/missing"
    let search = Program.devApp("duplicates", "--journal", files.path + "/j", missing)
    let message =
      "DevApp duplicates: \(missing): No such file or directory; expected a file or a folder to "
      + "search\n"
    let first = try await search.run()
    #expect(first.status == 1)
    #expect(first.error == message)
    let second = try await search.run()
    #expect(second.status == 1)
    #expect(second.error.contains("which has ended; the search starts again\n" + message))
  }

  @Test func `other paths, options and working folders are other runs of one journal`()
    async throws
  {
    let files = try TemporaryFolder()
    let journal = files.path + "/j"
    try files.write("same", to: "x/a")
    try files.write("same", to: "x/b")
    try files.write("", to: "y/a")
    for name in ["x", "y"] {
      let folder = files.url.appendingPathComponent(name)
      for arguments in [["."], ["--empty", "."], [".", "."], ["--json", "."]] {
        var search = Program.devApp("duplicates", "--journal", journal, in: folder)
        search.arguments += arguments
        let printed = try await search.run()
        #expect(printed.status == 0, "\(printed.error)")
        // The form of the output makes no other run.
        let isRepeated = arguments == ["--json", "."]
        #expect(printed.error.contains("starts again") == isRepeated, "\(printed.error)")
      }
    }
    let listed = try await Program.coop("journal", journal, "list", "--json").run()
    #expect(listed.text.split(separator: "\n").count == 6)
    #expect(listed.text.contains("\"flow\":\"FindDuplicates\""))
  }

  @Test func `a journal that cannot be written is an error that names it`() async throws {
    let files = try TemporaryFolder()
    for journal in ["/no/such/folder/j", try files.write("text", to: "text").path] {
      let printed = try await Program.devApp(
        "duplicates", "--journal", journal, files.path
      ).run()
      #expect(printed.status == 1)
      #expect(printed.output.isEmpty)
      #expect(printed.error.contains(journal), "\(printed.error)")
    }
    let missing = try await Program.devApp("duplicates", "--journal").run()
    #expect(missing.status == 64)
    #expect(missing.error.contains("--journal without a FILE; expected"))
  }

  // MARK: Fixtures

  /// Creates folders with four groups of equal files, which need every step: two small groups, a
  /// group of larger files, and a group of files that take a while to compare.
  private func tree() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, text) in [("same", "same"), ("other", "others")] {
      for place in ["", "below/", "below/deeper/"] { try folder.write(text, to: place + name) }
    }
    for index in 0..<100 {
      try folder.write(String(repeating: "\(index % 10)", count: 10_000 + index), to: "n/\(index)")
    }
    for name in ["large 1", "below/large 2"] {
      try folder.write(String(repeating: "large", count: 4_000), to: name)
    }
    for name in ["a sparse", "below/b sparse"] {
      let file = try FileHandle(forWritingTo: folder.write("", to: name))
      try file.truncate(atOffset: 64 << 20)
      try file.close()
    }
    return folder
  }

  /// Creates a journal, which the next search stops at a moment.
  private func journal(
    in folder: TemporaryFolder, stoppedAt moment: Moment? = nil
  ) async throws -> String {
    let journal = folder.path + "/journal.sqlite"
    try FileManager.default.createDirectory(
      atPath: folder.path + "/empty", withIntermediateDirectories: false)
    let printed = try await Program.devApp(
      "duplicates", "--journal", journal, folder.path + "/empty"
    ).run()
    try #require(printed.status == 0, "\(printed.error)")
    let connection = try Self.open(journal)
    try connection.execute("DELETE FROM run")
    if let moment {
      // A statement that never ends, in the transaction of the program.
      try connection.execute(
        """
        CREATE TRIGGER stop \(moment.event) BEGIN
          SELECT count(*) FROM (WITH RECURSIVE counter(x) AS
            (SELECT 1 UNION ALL SELECT x + 1 FROM counter) SELECT x FROM counter);
        END
        """)
    }
    return journal
  }

  private func resume(_ journal: String) throws {
    try Self.open(journal).execute("DROP TRIGGER stop")
  }

  private static func open(_ journal: String) throws -> SQLiteConnection {
    try SQLiteConnection.open(
      journal, for: .writing,
      SQLiteConfiguration(access: .existing, trustsSchema: true, busyTimeout: .zero))
  }

  /// The number of finished steps of the only run.
  private func steps(in journal: String) throws -> Int {
    try Self.open(journal).fetchOne("SELECT max(position) + 1 FROM step WHERE key = ''") {
      Int($0.integer(at: 0))
    } ?? 0
  }

  /// Waits until the program has held the lock of the journal for a while, because of the trigger.
  private func waitUntilStopped(_ journal: String) async throws {
    try await eventually {
      for _ in 0..<100 {
        usleep(1_000)
        guard let connection = try? Self.open(journal) else { return false }
        let isFree = (try? connection.transaction(.immediate) {}) != nil
        if isFree { return false }
      }
      return true
    }
  }
}
