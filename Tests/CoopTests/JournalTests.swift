import DurableOperations
import Foundation
import SQLiteSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct JournalTests {
  // MARK: Looking

  @Test func `runs are listed, the newest first, and selected by state and flow`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("a", limit: 6 * 86_400 + 8_880)
    try await journal.startFailed("b")
    try await journal.store.start(Packing(), named: "c")
    let listed = try await journal.run("list")
    #expect(listed.status == 0)
    #expect(
      listed.text == """
        run  flow        began             steps  state
        c    Packing     2026-11-24 12:00      0  ready
        b    Fulfilment  2026-11-24 12:00      1  error at 2026-11-24 12:00
        a    Fulfilment  2026-11-24 12:00      1  parked until 2026-11-30 14:28 for the event "approved"

        """)
    let ready = try await journal.run("list", "--state", "ready", "--state", "error", "--json")
    #expect(try Self.objects(ready).map { $0["id"] as? String } == ["c", "b"])
    let flow = try await journal.run("list", "--flow", "Fulfilment", "--json")
    #expect(try Self.objects(flow).map { $0["id"] as? String } == ["b", "a"])
    #expect(try Self.objects(flow).last?["wakes"] as? String == "2026-11-30T14:28:00.000Z")
    try journal.execute("UPDATE run SET state = 'running', owner = 99 WHERE id = 'c'")
    let abandoned = try await journal.run("list", "--state", "interrupted")
    #expect(abandoned.text.hasSuffix("      0  interrupted: its process has ended\n"))
    #expect(try await journal.run("list", "--state", "running").text == "no runs\n")
    #expect(try await journal.run("list", "--state", "stuck").text == "no runs\n")
    #expect(try await journal.run("list", "--state", "stuck", "--json").text == "")
  }

  @Test func `runs are selected by a part of their names, by age, and by number`() async throws {
    let journal = try JournalFixture()
    for name in ["order-1", "order-2", "ORDER-3", "backup"] {
      try await journal.store.start(Packing(), named: RunID(name))
    }
    try journal.execute("UPDATE run SET began = 0")
    try journal.execute("UPDATE run SET began = 1000 * (unixepoch() - 3600) WHERE id = 'order-2'")
    try journal.execute("UPDATE run SET began = 1000 * (unixepoch() - 7200) WHERE id = 'order-1'")
    try journal.execute("UPDATE run SET began = 1000 * unixepoch() WHERE id = 'ORDER-3'")
    func names(_ options: String...) async throws -> [String?] {
      try await Self.objects(journal.program(["list", "--json"] + options).run())
        .map { $0["id"] as? String }
    }
    #expect(try await names("--text", "order") == ["ORDER-3", "order-2", "order-1"])
    #expect(try await names("--since", "90m") == ["ORDER-3", "order-2"])
    #expect(try await names("--since", "3h", "--text", "r-1") == ["order-1"])
    #expect(try await names("--limit", "2") == ["ORDER-3", "order-2"])
    #expect(try await names("--limit", "1", "--since", "1d", "--text", "-") == ["ORDER-3"])
    #expect(try await names("--limit", "9").count == 4)
    for (option, value) in [("--limit", "0"), ("--limit", "two"), ("--since", "yesterday")] {
      let refused = try await journal.run("list", option, value)
      #expect(refused.status == 64 && refused.error.contains("invalid \(option) \(value);"))
    }
  }

  @Test func `more runs than a page are listed once each`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, wake, began, updated)
      SELECT value, 'Packing', '{}', '{}', 'ready', 0, value, value FROM
        (WITH RECURSIVE numbers(value) AS
          (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < 2500)
        SELECT value FROM numbers)
      """)
    let listed = try await journal.run("list", "--json")
    let names = try Self.objects(listed).compactMap { $0["id"] as? String }
    #expect(names.count == 2_501)
    #expect(Set(names).count == 2_501)
    #expect(try await journal.run("list").text.split(separator: "\n").count == 2_502)
  }

  @Test func `a run is shown with its steps and what it waits for`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("order-7", limit: 6 * 86_400 + 8_880)
    try journal.execute("UPDATE step SET attempts = 2, began = began - 1200 WHERE key = ''")
    let shown = try await journal.run("show", "order-7")
    #expect(shown.status == 0)
    #expect(
      shown.text == """
        order-7  Fulfilment  parked until 2026-11-30 14:28 for the event "approved"
          0  ChargeCard    result  1.20 s  attempt 2  {"id":"pay_1"}
          1  AwaitedEvent  waits since 2026-11-24 12:00
              @event:approved  wake  < 1 ms  1796048880000

        """)
  }

  @Test func `the parts of the step in progress are shown by their keys`() async throws {
    let journal = try JournalFixture()
    try await journal.start(Packing(), named: "p") { $0.steps.count == 2 }
    let shown = try await journal.run("show", "p")
    #expect(
      shown.text == """
        p  Packing  ready
          0  pack items  waits for a worker since 2026-11-24 12:00
              desk  result  < 1 ms  "desk"
              lamp  result  < 1 ms  "lamp"

        """)
  }

  @Test func `a run that has ended is shown with its outcome`() async throws {
    let journal = try JournalFixture()
    try await journal.startFailed("f")
    let lines = try await journal.run("show", "f").text.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0] == "f  Fulfilment  error at 2026-11-24 12:00")
    #expect(lines[1].hasPrefix("  0  ChargeCard  error  < 1 ms  {"))
    #expect(lines[1].contains("declined"))
    #expect(lines[2].hasPrefix("  outcome  {"))
  }

  @Test func `a run is printed as JSON with its values`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("j")
    let run = try #require(try await Self.objects(journal.run("show", "j", "--json")).first)
    #expect(run["state"] as? String == "parked")
    #expect(run["event"] as? String == "approved")
    #expect((run["sequence"] as? [String: Any])?["declines"] as? Bool == false)
    let steps = try #require(run["steps"] as? [[String: Any]])
    #expect(steps.count == 1)
    #expect(steps.first?["name"] as? String == "ChargeCard")
    #expect((steps.first?["value"] as? [String: Any])?["id"] as? String == "pay_1")
    // Text that a coder has encrypted, for example.
    try journal.execute("UPDATE step SET value = 'secret' WHERE position = 0")
    let text = try await journal.run("show", "j", "--json").text
    #expect(text.contains("\"value\":\"secret\""))
  }

  @Test(arguments: [("t.html", "<!doctype html>"), ("t.svg", "<svg")])
  func `a timeline of a stored run is written`(name: String, beginning: String) async throws {
    let journal = try JournalFixture()
    try await journal.start(Packing(), named: "p") { $0.steps.count == 2 }
    try await journal.startFailed("f")
    try await journal.start(Shipping(), named: "s") { $0.summary.state == .result }
    let file = journal.folder.path + "/" + name
    for (run, parts) in [
      ("p", ["pack items", "lamp", "desk"]), ("f", ["ChargeCard", "declined"]),
      ("s", ["ship parcels", "parcel of a lamp", "parcel of a desk", "PackItem"]),
    ] {
      let printed = try await journal.run("show", run, "--timeline", file)
      #expect(printed.status == 0, "\(printed.error)")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.lowercased().contains(beginning))
      for part in parts where name == "t.html" || part != "declined" {
        #expect(text.contains(part), "\(part)")
      }
    }
  }

  @Test func `names that control the terminal are shown escaped`() async throws {
    let journal = try JournalFixture()
    try await journal.start(Unruly(), named: "u\u{202E}n") { $0.summary.state == .parked }
    let program = journal.program(["show", "u\u{202E}n"])
    let printed = try await program.run()
    for text in [printed.text, try await journal.run("list").text] {
      #expect(text.split(separator: "\n").count == (text == printed.text ? 3 : 2), "\(text)")
      for character in ["\u{1B}", "\u{202E}", "\u{7F}"] { #expect(!text.contains(character)) }
    }
    #expect(printed.text.contains("$'un\\x1b[2Jruly\\nflow'"))
    #expect(printed.text.contains("$'first\\nline\\x1b[31m'"))
    #expect(printed.text.contains("\"$'go\\x1b[0m'\""))
  }

  // MARK: Acting

  @Test func `cancelling ends a parked run with the reason`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("c")
    let cancelled = try await journal.run("cancel", "c", "--because", "out of stock")
    #expect(cancelled.status == 0)
    #expect(cancelled.error == "coop journal: run c is cancelled\n")
    let first = try await journal.run("show", "c").text.split(separator: "\n").first
    #expect(first?.hasPrefix("c  Fulfilment  cancelled at ") == true)
    #expect(first?.hasSuffix(" because out of stock") == true)
    let again = try await journal.run("cancel", "c")
    #expect(
      again.error == "coop journal: run c has already ended (cancelled); nothing is changed\n")
  }

  @Test func `a run that failed is retried from its last step, or from the given one`()
    async throws
  {
    let journal = try JournalFixture()
    try await journal.startFailed("r")
    for arguments in [["retry", "r"], ["retry", "r", "--from", "0"]] {
      let retried = try await journal.program(arguments).run()
      #expect(
        retried.error == "coop journal: run r is ready; a program that knows the flow Fulfilment "
          + "continues it\n")
      #expect(try await journal.state(of: "r") == .ready)
      #expect(try await journal.store.run("r")?.steps.isEmpty == true)
      // The program waits for the time of the journal, which is in the past of the fixed day.
      try journal.execute("UPDATE run SET wake = 0")
      try await journal.work(until: "r") { $0.summary.state == .error }
    }
    let tooFar = try await journal.run("retry", "r", "--from", "7")
    #expect(tooFar.status == 1)
    #expect(tooFar.error.contains("run r has no step 7"))
  }

  @Test func `the JSON of an event is sent as it is`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("s")
    let payload = "{ \"isGranted\" : true }"
    let sent = try await journal.run("send", "s", "approved", payload)
    #expect(sent.status == 0)
    #expect(sent.error == "coop journal: sent the event approved to run s\n")
    #expect(try journal.text("SELECT payload FROM event") == payload)
    // No step has received it.
    let wrong = try await journal.run("send", "s", "approved", "7")
    #expect(wrong.status == 0)
    #expect(try journal.text("SELECT payload FROM event") == "7")
    try await journal.store.send(
      Approval(isGranted: true), as: "approved", to: "s", replacing: true)
    try await journal.work(until: "s") { $0.summary.state == .result }
    try await journal.store.retry("s")
    let twice = try await journal.run("send", "s", "approved", "{\"isGranted\":false}")
    #expect(twice.status == 1)
    #expect(
      twice.error.contains("the event approved does not count: a step of run s has received one"))
    try await journal.work(until: "s") { $0.summary.state == .result }
    let late = try await journal.run("send", "s", "other", "-7")
    #expect(late.status == 1)
    #expect(late.error.contains("run s has ended (result)"))
  }

  @Test func `runs are forgotten by name and by age`() async throws {
    let journal = try JournalFixture()
    try await journal.startFailed("old")
    try await journal.startFailed("older")
    try await journal.startParked("waiting")
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let day: Int64 = 86_400_000
    try journal.execute("UPDATE run SET ended = \(now - 6 * day) WHERE id = 'old'")
    try journal.execute("UPDATE run SET ended = \(now - 8 * day) WHERE id = 'older'")
    let week = try await journal.run("forget", "--older-than", "7d")
    #expect(week.status == 0)
    #expect(week.error == "coop journal: forgot 1 run\n")
    let names = try await Self.objects(journal.run("list", "--json")).map { $0["id"] as? String }
    #expect(names == ["waiting", "old"])
    #expect(try await journal.run("forget", "old").error == "coop journal: forgot run old\n")
    let parked = try await journal.run("forget", "waiting")
    #expect(parked.status == 1)
    #expect(parked.error.contains("run waiting has not ended (parked); cancel it before"))
    for (age, count) in [("100s", 0), ("100m", 0), ("1h", 0), ("2w", 0)] {
      let forgotten = try await journal.run("forget", "--older-than", age)
      #expect(forgotten.error == "coop journal: forgot \(count) runs\n")
    }
  }

  @Test func `a journal is copied into a new file`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("waiting")
    let folder = try TemporaryFolder()
    let copy = folder.path + "/copy"
    let copied = try await journal.run("copy", copy)
    #expect(copied.status == 0)
    #expect(copied.error.hasPrefix("coop journal: copied "))
    #expect(copied.error.hasSuffix(" to \(copy)\n"))
    #expect(try await RunStore.sqlite(copy).runs().map(\.id) == ["waiting"])
    let again = try await journal.run("copy", copy)
    #expect(again.status == 1)
    #expect(again.error == "coop journal: \(copy) exists; expected the path of a new file\n")
  }

  @Test func `a check lists stuck runs and values that are not JSON`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("k")
    let whole = try await journal.run("check")
    #expect(whole.status == 0)
    #expect(whole.text == "")
    #expect(whole.error == "coop journal: \(journal.path) has no problems\n")
    try journal.execute("UPDATE run SET state = 'stuck', reason = 'no type X'")
    try journal.execute("UPDATE step SET value = '{' WHERE position = 0")
    let broken = try await journal.run("check")
    #expect(broken.status == 1)
    #expect(
      broken.text == """
        run k, step 0: the value is not valid JSON
        run k is stuck: no type X

        """)
    let lines = try await journal.run("show", "k").text.split(separator: "\n")
    #expect(lines.first == "k  Fulfilment  stuck: no type X")
  }

  // MARK: The live view

  #if os(Linux)
    @Test(.timeLimit(.minutes(10)))
    func `without a terminal, a live view prints the changes and the run at its end`()
      async throws
    {
      let journal = try JournalFixture()
      try await journal.startParked("l")
      let printed = try await journal.program(["show", "l", "--live"]).run { process in
        try await waitForError(of: process, "parked")
        try await journal.store.cancel("l", because: "enough")
      }
      #expect(printed.status == 0)
      #expect(printed.error == "l  1 finished step  parked for the event \"approved\"\n")
      #expect(printed.text.hasPrefix("l  Fulfilment  cancelled at "))
      #expect(!printed.text.contains("\u{1B}"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: terminationSignals)
    func `a signal ends a live view, and not the run`(number: Int32) async throws {
      let journal = try JournalFixture()
      try await journal.startParked("l")
      let printed = try await journal.program(["show", "l", "--live"]).run { process in
        try await waitForError(of: process, "parked")
        kill(process, number)
      }
      #expect(printed.status == 128 + number)
      #expect(printed.text.hasPrefix("l  Fulfilment  parked for the event \"approved\"\n"))
      #expect(try await journal.state(of: "l") == .parked)
    }

    @Test(.timeLimit(.minutes(10)), .enabled(if: Program.installed("script") != nil))
    func `on a terminal, a live view is redrawn in place`() async throws {
      let journal = try JournalFixture()
      try await journal.startParked("l")
      let show = journal.program(["show", "l", "--live"])
      let command = ([show.executable.path] + show.arguments).map { "'\($0)'" }
      var script = try #require(Program.installed("script"))
      script.arguments = ["-q", "-e", "-c", command.joined(separator: " "), "/dev/null"]
      let printed = try await script.run { process in
        // The view is drawn twice.
        let output = "/proc/\(process)/fd/1"
        try await eventually {
          let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
          return text.components(separatedBy: "ChargeCard").count > 2
        }
        try await journal.store.cancel("l", because: nil)
      }
      #expect(printed.status == 0)
      #expect(printed.text.contains("\u{1B}[3A\r"))
      #expect(printed.text.contains("l  Fulfilment  cancelled at "))
    }

    private func waitForError(of process: Int32, _ text: String) async throws {
      try await eventually {
        let file = try? String(contentsOfFile: "/proc/\(process)/fd/2", encoding: .utf8)
        return file?.contains(text) == true
      }
    }

    @Test func `a journal that cannot be written is shown, and not changed`() async throws {
      let journal = try JournalFixture()
      try await journal.startParked("l")
      try journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      let manager = FileManager.default
      let folder = try TemporaryFolder()
      let file = folder.path + "/copy"
      try manager.copyItem(atPath: journal.path, toPath: file)
      let blank = folder.path + "/blank"
      do {
        let connection = try SQLiteConnection.open(
          blank, for: .writing, SQLiteConfiguration(access: .create))
        for sql in ["CREATE TABLE t (x)", "DROP TABLE t"] { try connection.execute(sql) }
      }
      for (path, permissions) in [(file, 0o444), (blank, 0o444), (folder.path, 0o555)] {
        try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
      }
      defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
      let reachable = try TemporaryFolder()
      var show = Program.coop("journal", file)
      show.environment = ["TZ": "UTC"]
      guard var program = try await show.withoutPrivileges(copiedTo: reachable) else { return }
      let common = program.arguments
      for (arguments, text) in [
        (["list"], "l    Fulfilment  2026-11-24 12:00      1  parked for the event \"approved\"\n"),
        (["show", "l"], "0  ChargeCard  result"),
        (["check"], "is a copy of the file that programs have used"),
      ] {
        program.arguments = common + arguments
        let printed = try await program.run()
        #expect(printed.status == (arguments == ["check"] ? 1 : 0), "\(printed.error)")
        #expect(printed.text.contains(text))
      }
      program.arguments = common + ["cancel", "l"]
      let cancelled = try await program.run()
      #expect(cancelled.status == 1)
      #expect(cancelled.error.contains("can be read, but not written"), "\(cancelled.error)")
      program.arguments = common.map { $0 == file ? blank : $0 } + ["list"]
      let none = try await program.run()
      #expect(none.status == 1)
      #expect(
        none.error.contains("blank has no journal yet, and cannot be written"), "\(none.error)")
    }
  #endif

  // MARK: Errors

  @Test func `a file that is no journal is an error, and no file is created`() async throws {
    let journal = try JournalFixture()
    let folder = journal.folder
    try folder.write("", to: "empty")
    try folder.write(String(repeating: "text", count: 1_000), to: "text")
    for (name, problem) in [
      ("missing", "No such file or directory; expected the SQLite file of a journal"),
      ("empty", "is empty; expected the SQLite file of a journal"),
      (".", "is not a file; expected the SQLite file of a journal"),
      ("./text", "is not an SQLite database"),
    ] {
      for action in [["list"], ["check"], ["show", "x"], ["forget", "--older-than", "1d"]] {
        var program = Program.coop(in: folder.url)
        program.arguments = ["journal", name] + action
        let printed = try await program.run()
        #expect(printed.status == 1)
        #expect(printed.output.isEmpty)
        let shown = name == "./text" ? folder.path + "/text" : name
        #expect(printed.error.hasPrefix("coop journal: \(shown)"), "\(printed.error)")
        #expect(printed.error.contains(problem), "\(printed.error)")
      }
    }
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["empty", "text"])
  }

  @Test func `looking at a journal leaves no file beside it`() async throws {
    // Written by a program, because this process keeps its connections open.
    let folder = try TemporaryFolder()
    let path = folder.path + "/state.sqlite"
    let flow = try TemporaryFolder()
    try flow.write(#"{"flow": "f", "steps": {"a": {"run": "true"}}}"#, to: "f.json")
    let written = try await Program.coop(
      "flow", "run", "f.json", "--state", folder.path, in: flow.url
    )
    .run()
    #expect(written.status == 0)
    // Repeated, because a connection that is not closed is often closed by chance.
    for action in Array(repeating: ["list", "check"], count: 20).joined() {
      #expect(try await Program.coop("journal", path, action).run().status == 0)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(Set(files) == ["state.sqlite", "run.lock", "runs"])
    }
  }

  @Test func `a run that is missing is an error that names it`() async throws {
    let journal = try JournalFixture()
    try await journal.startParked("x")
    for action in [
      ["show", "a\nb"], ["show", "a\nb", "--live"], ["cancel", "a\nb"], ["retry", "a\nb"],
      ["send", "a\nb", "e", "1"], ["forget", "a\nb"],
    ] {
      let printed = try await journal.program(action).run()
      #expect(printed.status == 1)
      #expect(printed.output.isEmpty)
      #expect(
        printed.error == "coop journal: \(journal.path) has no run $'a\\nb'; "
          + "`coop journal STORE list` shows the runs\n")
    }
  }

  @Test(arguments: [
    ([], "no STORE; expected the SQLite file of a journal, or postgresql://"),
    ([""], "invalid STORE ; expected"), (["x", "list", "--queue"], "--queue without a value"),
    (
      ["x", "list", "--queue", "q"],
      "--queue with a file, which has no queues; expected the address"
    ),
    (
      ["x"],
      "no action; expected list, show, cancel, retry, send, forget, check, copy, serve or init"
    ),
    (["x", "dance"], "unknown action dance; expected list"),
    (
      ["x", "list", "--fast"],
      "unknown option --fast; expected --flow, --reason, --since, --state, --text, --json, --limit"
    ),
    (["x", "list", "y"], "unexpected argument y; expected options"),
    (["x", "list", "--state", "good"], "invalid --state good; expected one of ready, running"),
    (["x", "list", "--flow"], "--flow without a value; expected the name of a flow"),
    (["x", "show"], "no RUN; expected RUN options"), (["x", "show", ""], "an empty RUN; expected"),
    (["x", "show", "r", "--timeline", "t.txt"], "expected a name that ends in .html or .svg"),
    (["x", "show", "r", "--because", "z"], "expected --json, --live, --timeline, --trace"),
    (["x", "retry", "r", "--from", "-1"], "invalid --from -1; expected the number of a step"),
    (["x", "send", "r", "e"], "no JSON; expected RUN EVENT JSON options"),
    (
      ["x", "forget"],
      "expected either RUN, or --older-than AGE, such as --older-than 7d, or a selection"
    ),
    (
      ["x", "forget", "r", "--older-than", "1d"],
      "expected either RUN, or --older-than AGE, such as --older-than 7d, or a selection"
    ),
    (["x", "forget", "--older-than", "7"], "invalid --older-than 7; expected a number and s, m"),
    (["x", "forget", "--older-than", "99999999999w"], "invalid --older-than 99999999999w"),
    (
      ["x", "serve", "--public-url", "runs.example"], "invalid --public-url runs.example; expected"
    ),
    (
      ["x", "serve", "--public-url", "https://a/b", "--token-file", "t"], "without a path, such as"
    ),
    (
      ["x", "serve", "--public-url", "https://a"],
      "--public-url without --token-file FILE; the proxy"
    ),
    (["x", "serve", "--user-header", "X-User"], "--user-header without --public-url URL"),
    (["x", "serve", "--user-header", "a b"], "invalid --user-header a b; expected the name"),
    (["x", "check", "--json"], "unknown option --json; expected --queue"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop()
    program.arguments = ["journal"] + arguments
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `a file needs no preparation, and is not created`() async throws {
    let folder = try TemporaryFolder()
    var program = Program.coop(in: folder.url)
    program.arguments = ["journal", "flows.sqlite", "init"]
    let printed = try await program.run()
    #expect(printed.status == 0)
    #expect(
      printed.error == "coop journal: flows.sqlite needs no preparation; the first program that "
        + "starts a run creates the file\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(arguments: ["{", "isGranted", "", "{\"a\":1}}", "'1'"])
  func `a payload that is not JSON is an error`(payload: String) async throws {
    let journal = try JournalFixture()
    try await journal.startParked("s")
    let printed = try await journal.run("send", "s", "approved", payload)
    #expect(printed.status == (payload.isEmpty ? 64 : 1))
    #expect(printed.error.contains(payload.isEmpty ? "an empty JSON" : "\(payload) is not JSON"))
    #expect(try journal.text("SELECT payload FROM event") == nil)
  }

  private static func objects(_ printed: ProgramResult) throws -> [[String: Any]] {
    try printed.text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      return try #require(object as? [String: Any])
    }
  }
}
