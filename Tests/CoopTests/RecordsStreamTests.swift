import Foundation
import TestSupport
import Testing

/// `coop records` with pipes, standard input and terminals instead of files.
@Suite(.timeLimit(.minutes(10))) struct RecordsStreamTests {
  private static let program = Program.coop().executable.path

  /// Runs a line of shell code in a folder, where `devapp` calls `coop records`.
  private func shell(_ line: String, in folder: TemporaryFolder) async throws -> ProgramResult {
    var shell = Program(
      executable: URL(fileURLWithPath: "/bin/sh"),
      arguments: ["-c", "devapp() { '\(Self.program)' records \"$@\"; }\n" + line])
    shell.folder = folder.url
    return try await shell.run()
  }

  /// Creates the database x.sqlite with a table of `count` rows.
  private func numbers(_ count: Int, in folder: TemporaryFolder) async throws {
    let rows = (1...count).map { "\($0),number \($0)\n" }.joined()
    try folder.write("id,text\n" + rows, to: "numbers.csv")
    let printed = try await shell(
      "devapp import x.sqlite Number numbers.csv --create", in: folder)
    try #require(printed.status == 0, "\(printed.error)")
  }

  @Test func `a piped query prints all rows`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(2_500, in: folder)
    let printed = try await shell("devapp query x.sqlite Number --sort id", in: folder)
    #expect(printed.status == 0 && printed.error.isEmpty)
    let lines = printed.text.split(separator: "\n")
    #expect(lines.count == 2_501)
    #expect(lines.first == "id    text" && lines.last == "999   number 999")
  }

  @Test func `a reader that closes the pipe ends a query without a message`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(50_000, in: folder)
    for command in ["query x.sqlite Number --json", "export x.sqlite Number --to -"] {
      let printed = try await shell(
        "{ devapp \(command); echo $? >&2; } | head -n 1 >/dev/null", in: folder)
      #expect(printed.error == "\(128 + SIGPIPE)\n")
    }
  }

  @Test func `text that is not UTF-8 is shown as bytes and is not exported`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(1, in: folder)
    let database = folder.url.appendingPathComponent("x.sqlite")
    var bytes = try Data(contentsOf: database)
    let text = try #require(bytes.range(of: Data("number 1".utf8)))
    bytes[text.upperBound - 1] = 0xFF
    try bytes.write(to: database)
    let shown = try await shell("devapp query x.sqlite Number", in: folder)
    #expect(shown.text == "id  text\n1   <8 B>\n" && shown.status == 0)
    let exported = try await shell("devapp export x.sqlite Number", in: folder)
    #expect(
      exported.error.hasPrefix(
        "coop records: the field text of row 1 of the file is 8 bytes; expected text in UTF-8"))
    #expect(exported.status == 1)
  }

  @Test func `a .tsv file has tabs between its cells`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(2, in: folder)
    let printed = try await shell(
      """
      devapp export x.sqlite Number --to out.tsv && cat out.tsv && devapp import y.sqlite Number out.tsv --create \
      && devapp export y.sqlite Number --to -
      """, in: folder)
    #expect(
      printed.text == "id\ttext\n1\tnumber 1\n2\tnumber 2\nid,text\n1,number 1\n2,number 2\n")
  }

  @Test func `wide characters take two columns of a table`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("id,title,pages\n1,日本語,300\n2,Emma,474\n3,a\u{202E}b,1\n", to: "Book.csv")
    let printed = try await shell(
      "devapp import x.sqlite Book Book.csv --create; devapp query x.sqlite Book", in: folder)
    #expect(
      printed.text == """
        id  title   pages
        1   日本語  300
        2   Emma    474
        3   a·b     1

        """)
    let turned = try await shell(
      "devapp query x.sqlite Book --columns pages,title", in: folder)
    #expect(
      turned.text == """
        pages  title
        300    日本語
        474    Emma
        1      a·b

        """)
  }

  @Test func `standard input is read from its current position`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("what the shell reads\nid,title\n1,Emma\n2,Persuasion,\n", to: "rows")
    let printed = try await shell(
      "{ read -r line; devapp import x.sqlite Book - --format csv --create --skip 1; } < rows",
      in: folder)
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.error.hasPrefix("line 3: it has 3 cells; expected 2"))
    let piped = try await shell(
      "printf 'id,title\\n3,\\n4\\n' | devapp import x.sqlite Book - --format csv", in: folder)
    #expect(piped.status == 1)
    #expect(piped.error.hasPrefix("coop records: standard input, line 3: "))
    let rows = try await shell("devapp query x.sqlite Book --json", in: folder)
    #expect(rows.text == "{\"id\":\"1\",\"title\":\"Emma\"}\n")
  }

  @Test func `rows can be exported to any descriptor that the shell has open`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(2, in: folder)
    let rows = "id,text\n1,number 1\n2,number 2\n"
    let piped = try await shell(
      "{ devapp export x.sqlite Number --to /dev/fd/3 --format csv 2> said 3>&1 | cat; }",
      in: folder)
    #expect(piped.text == rows && piped.error.isEmpty)
    // The descriptor can also be a file.
    let opened = try await shell(
      "devapp export x.sqlite Number --to /dev/fd/3 --format csv 2> said 3> file; cat file",
      in: folder)
    #expect(opened.text == rows && opened.error.isEmpty)
  }

  @Test func `the summary is on standard error if the rows are on standard output`() async throws {
    let folder = try TemporaryFolder()
    try await numbers(2, in: folder)
    for output in ["-", "/dev/stdout"] {
      let printed = try await shell(
        "devapp export x.sqlite Number --to \(output) --json", in: folder)
      #expect(printed.text == "id,text\n1,number 1\n2,number 2\n")
      let summary = try JSONSerialization.jsonObject(with: Data(printed.error.utf8))
      #expect((summary as? [String: Any])?["records"] as? Int == 2)
    }
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [["query", "--json"], ["query"], ["export", "--to", "-"]])
  func `Ctrl-C ends a command that writes to a pipe that is not read`(arguments: [String])
    async throws
  {
    let folder = try TemporaryFolder()
    try await numbers(20_000, in: folder)
    let pipe = folder.url.appendingPathComponent("pipe")
    #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
    // Opened for reading and writing, so that opening does not block.
    let end = unsafe open(pipe.path, O_RDWR)
    defer { close(end) }
    var program = Program.coop(in: folder.url)
    program.arguments =
      ["records", arguments[0], "x.sqlite", "Number"] + arguments.dropFirst()
    program.output = pipe
    let printed = try await program.run { process in
      try await eventually {
        var count: Int32 = 0
        // The pipe is full, except perhaps for its last page.
        return unsafe ioctl(end, UInt(FIONREAD), &count) == 0 && count > 15 * 4_096
      }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(printed.error == "coop records: interrupted\n")
  }

  #if os(Linux)
    @Test func `rows on a terminal are cut to its width, without progress between them`()
      async throws
    {
      guard let script = Program.installed("script") else { return }
      let folder = try TemporaryFolder()
      try await numbers(30_000, in: folder)
      func onTerminal(_ arguments: String, columns: Int = 12) async throws -> String {
        var program = script
        program.folder = folder.url
        program.arguments = [
          "-qec", "stty cols \(columns) rows 24; '\(Self.program)' records \(arguments)",
          "/dev/null",
        ]
        let printed = try await program.run()
        #expect(printed.status == 0)
        return printed.text
      }
      let rows = try await onTerminal("query x.sqlite Number --json")
      #expect(!rows.contains("\u{1B}"))
      #expect(rows.split(separator: "\r\n").count == 30_000)
      let lines = try await onTerminal("query x.sqlite Number").split(separator: "\r\n")
      #expect(lines.dropLast().count == 1_001)
      #expect(lines.dropFirst().first == "1     numbe…")
      #expect(lines.last == "first 1,000 rows; use --limit N to show more")
      let all = try await onTerminal("query x.sqlite Number --limit 1000")
      #expect(!all.contains("the first"))
      try folder.write("one,two,three,four,five\n1,2,3,4,5\n", to: "Wide.csv")
      #expect(
        try await shell("devapp import y.sqlite Wide Wide.csv --create", in: folder).status == 0)
      let tables = try await onTerminal("tables y.sqlite", columns: 45)
      // On a busy machine, progress is shown first, and then cleared.
      let shown = tables.split(separator: "\u{1B}[J").last ?? ""
      #expect(
        shown.split(separator: "\r\n") == [
          "table  kind   rows  columns", "Wide   table     1  id TEXT, one TEXT,",
          "                    two TEXT, three TEXT,", "                    four TEXT, five TEXT",
        ])
    }
  #endif

  @Test func `an unreadable view is reported, and the others are listed`() async throws {
    guard let sqlite = Program.installed("sqlite3") else { return }
    let folder = try TemporaryFolder()
    try await numbers(2, in: folder)
    var make = sqlite
    make.folder = folder.url
    make.arguments = [
      "x.sqlite",
      """
      CREATE VIEW Gone AS SELECT * FROM Missing; CREATE VIEW Text AS SELECT text FROM Number;
      CREATE VIEW Zero AS WITH RECURSIVE z(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM z) SELECT n FROM z
      """,
    ]
    #expect(try await make.run().status == 0)
    let printed = try await shell("devapp tables x.sqlite", in: folder)
    #expect(printed.status == 0)
    #expect(
      printed.text == """
        table   kind   rows  columns
        Gone    view      ?
        Number  table     2  id TEXT, text TEXT
        Text    view      2  text TEXT
        Zero    view      ?  n

        """)
    #expect(printed.error == "view Gone cannot be read: no such table: main.Missing\n")
  }
}
