import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled { try await WithServer.isPossible() })
struct FlowOnTests {
  @Test func `L11: a command runs on a worker, and the log has its output`() async throws {
    let on = try await FlowOnFixture(
      #"""
      "a": {"run": "echo $PPID > worker; printf 'x\\000\\377\\n'; echo \"$v $E\" >&2; cat; pwd",
        "in": "sub", "env": {"E": "${v}!"}, "stdin": "input"}
      """#, head: #""values": {"v": "v \"'$$"},"#)
    try on.flow.folder.write("from a file\n", to: "sub/input")
    let worker = try on.startWorker()
    let printed = try await on.program().run()
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.ends == ["a: succeeded"])
    let folder = on.flow.folder
    let log = try Data(contentsOf: folder.url.appendingPathComponent(on.flow.log("a")))
    var expected = Data("x\0".utf8) + [0xFF]
    expected += Data("\nv \"'$ v \"'$!\nfrom a file\n\(folder.path)/sub\n".utf8)
    let start = try #require(log.firstIndex(of: UInt8(ascii: "\n"))) + 1
    #expect(log[start...] == expected, "\(String(decoding: log, as: UTF8.self))")
    #expect(on.flow.lines("sub/worker") == ["\(worker.process)"])
  }

  @Test(.enabled(if: PageFixture.isPossible))
  func `A10: the page names the store whose worker runs a command`() async throws {
    let on = try await FlowOnFixture(
      #""a": {"run": "echo begun; touch began; while ! test -e go; do sleep 0.05; done; echo end"}"#
    )
    try on.startWorker()
    let began = on.flow.folder.path + "/began"
    let printed = try await on.program().run { _ in
      try await eventually { FileManager.default.fileExists(atPath: began) }
      _ = try await on.flow.serving { page in
        let path = "/run?id=f%231"
        let stream = try EventStream(of: page, "/events?id=f%231")
        let step = try #require(try await page.steps(path).first)
        #expect(step.state == "running")
        let place = try #require(step.outputIsOnWorkerOf)
        #expect(place.hasSuffix(", queue '\(on.queue)'"), "\(place)")
        let shown = place.replacing("'", with: "&#39;")
        #expect(
          try await page.get(path).text.contains(
            "The command runs on a worker of \(shown). Its output is added to the log when it has ended."
          ))
        try on.flow.folder.write("", to: "go")
        while try await page.steps(path).first?.state == "running" { try await stream.change() }
        let ended = try #require(try await page.steps(path).first)
        #expect(ended.state == "succeeded" && ended.outputIsOnWorkerOf == nil)
        let html = try await page.get("/run?id=f%231&step=a").text
        #expect(html.contains("begun\nend</pre>") && !html.contains("runs on a worker"))
      }
    }
    #expect(printed.status == 0, "\(printed.error)")
  }

  @Test func `L11: a failure on a worker has the attempts and the message of one without workers`()
    async throws
  {
    let on = try await FlowOnFixture(
      """
      "a": {"run": "echo a; echo run >> runs; exit 3", "retries": 2},
      "accepted": {"run": "exit 9", "accept": [0, 9]},
      "signal": {"run": "kill -9 $$"},
      "skipped": {"run": "true", "only-if": "exit 1"},
      "unclear": {"run": "true", "only-if": "exit 2"}
      """)
    try on.startWorker()
    func lines(_ printed: ProgramResult) -> [String] {
      printed.error.split(separator: "\n").map {
        String($0).replacing(#/ \([0-9.]+ m?s\)/#, with: "")
      }
    }
    let remote = try await on.program("--keep-going").run()
    #expect(on.flow.lines("runs").count == 3)
    try on.flow.remove(".flow")
    let local = try await on.flow.run("--keep-going")
    #expect(remote.status == 1)
    #expect(lines(remote) == lines(local))
    #expect(
      lines(remote).prefix(2) == [
        "coop flow: step 'a' failed: exit status 3 after 3 attempts; its last lines:", "  a",
      ])
    #expect(remote.ends.sorted() == local.ends.sorted())
    #expect(remote.ends.contains("accepted: succeeded"))
    #expect(remote.ends.contains("skipped: skipped, only-if is not met"))
  }

  @Test(arguments: ["", "trap '' TERM;"])
  func `L11: a timeout ends the command on the worker`(trap: String) async throws {
    let on = try await FlowOnFixture(
      """
      "a": {"run": "\(trap) sleep 60 & echo begun; echo $$ $! > pids; while test -e f.json; do sleep 0.1; done",
        "timeout": "10s"}
      """)
    try on.startWorker()
    let printed = try await on.program().run()
    #expect(printed.status == 1)
    #expect(printed.error.contains("step 'a' failed: timeout of 10 s after 1 attempt"))
    // Its end was awaited.
    let processes = (on.flow.text("pids") ?? "").split(whereSeparator: \.isWhitespace)
      .compactMap { Int32($0) }
    #expect(processes.count == 2 && processes.allSatisfy { hasEnded($0) })
    #expect(on.flow.outputLines("a") == ["begun"])
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `L11: a signal ends the command on the worker`(number: Int32) async throws {
    let on = try await FlowOnFixture(
      #""a": {"run": "echo $$ > new; mv new pid; while test -e f.json; do sleep 0.1; done"}"#)
    try on.startWorker()
    let pid = on.flow.folder.path + "/pid"
    let printed = try await on.program().run { process in
      try await eventually { FileManager.default.fileExists(atPath: pid) || hasEnded(process) }
      kill(process, number)
    }
    #expect(printed.status == 128 + number, "\(printed.error)")
    #expect(printed.ends == ["a: cancelled"])
    let process = try #require(on.flow.lines("pid").first.flatMap { Int32($0) })
    #expect(hasEnded(process))
    let listed = try await Program.coop(
      "journal", on.address, "list", "--queue", on.queue, "--state", "cancelled"
    ).run()
    #expect(listed.text.contains("/a/1 "), "\(listed.text)")
  }

  @Test func `L11: children of the lines of a command run on the workers`() async throws {
    let on = try await FlowOnFixture(
      #"""
      "list": {"run": "echo one; echo noise >&2; echo two; echo; echo one"},
      "each": {"each": {"lines-of": "list"}, "run": "echo \"$each\" >> \"$each.txt\""},
      "odd": {"each": ["a/b c%@", "\n", "\#(String(repeating: "ö", count: 300))"], "run": "true"},
      "long": {"run": "head -c 524289 /dev/zero | tr '\\0' x"},
      "none": {"each": {"lines-of": "long"}, "run": "true"}
      """#)
    try on.startWorker()
    let printed = try await on.program("--keep-going").run()
    #expect(on.flow.lines("one.txt") == ["one"])
    #expect(on.flow.lines("two.txt") == ["two"])
    #expect(!on.flow.exists("noise.txt"))
    #expect(on.flow.outputLines("list").sorted() == ["noise", "one", "one", "two"])
    #expect(printed.status == 1)
    #expect(printed.ends.contains("each: succeeded"))
    // The names of their runs are valid.
    #expect(printed.ends.contains("odd: succeeded"), "\(printed.error)")
    #expect(
      printed.error.contains("step 'long' failed: it wrote more than 524,288 bytes for lines-of"),
      "\(printed.error)")
  }

  @Test func `L11: two workers share the children of a step`() async throws {
    // Each child waits for the other one.
    let on = try await FlowOnFixture(
      """
      "a": {"each": ["x", "y"], "run":
        "echo $PPID > $each; until test -s x && test -s y || ! test -e f.json; do sleep 0.01; done"}
      """, head: #""width": 2,"#)
    let workers = [try on.startWorker("--width", "1"), try on.startWorker("--width", "1")]
    let printed = try await on.program().run()
    #expect(printed.status == 0, "\(printed.error)")
    let used = (on.flow.lines("x") + on.flow.lines("y")).compactMap { Int32($0) }
    #expect(Set(used) == Set(workers.map(\.process)))
  }

  @Test func `L11: the log says how much of a long output is missing`() async throws {
    let on = try await FlowOnFixture(
      #""a": {"run": "head -c 300000 /dev/zero | tr '\\0' x; echo end"}"#)
    try on.startWorker()
    let printed = try await on.program().run()
    #expect(printed.status == 0, "\(printed.error)")
    let lines = on.flow.outputLines("a")
    #expect(lines.count == 2)
    let host = ProcessInfo.processInfo.hostName
    #expect(lines.first == "[earlier output that was not kept: 37,860 bytes, on \(host)]")
    #expect(lines.last?.utf8.count == 256 << 10 - 1)
    #expect(lines.last?.hasSuffix("xend") == true)
  }

  @Test func `L11: a missing folder, file or program is named with the machine`() async throws {
    let on = try await FlowOnFixture(
      """
      "a": {"run": "true", "in": "no/such"},
      "c": {"run": ["no-such-program"]}
      """)
    try on.startWorker()
    let printed = try await on.program("--keep-going").run()
    let (folder, host) = (on.flow.folder.path, ProcessInfo.processInfo.hostName)
    for message in [
      "step 'a' failed: folder: \(folder)/no/such does not exist on \(host); with --on, every machine"
        + " needs the same folders after 1 attempt",
      "step 'c' failed: on \(host): no-such-program cannot be started",
    ] { #expect(printed.error.contains(message), "\(printed.error)") }
  }

  @Test func `L11: without a worker that runs commands, one line says so, without the password`()
    async throws
  {
    let on = try await FlowOnFixture(
      #""a": {"run": "touch ran"}, "b": {"run": "touch ran"}"#, head: #""width": 2,"#)
    try on.startWorker(runsCommands: false)
    var program = on.program()
    let address = on.address.replacing("postgres@", with: "postgres:s3cret@")
    program.arguments = program.arguments.map { $0 == on.address ? address : $0 }
    let printed = try await program.run { process in
      try await eventually {
        let error = try? String(contentsOfFile: "/proc/\(process)/fd/2", encoding: .utf8)
        return error?.contains("start one with") == true || hasEnded(process)
      }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(!on.flow.exists("ran"))
    #expect(!printed.error.contains("s3cret"))
    let notices = printed.error.split(separator: "\n").filter { $0.contains("no worker of") }
    #expect(notices.count == 1, "\(printed.error)")
    let notice = String(notices.first ?? "")
    #expect(notice.hasPrefix("coop flow: no worker of postgresql://postgres:***@/"), "\(notice)")
    #expect(
      notice.contains(
        #/ has claimed '[ab]' for 5 s; start one with: coop worker ADDRESS --commands$/#),
      "\(notice)")
  }

  @Test func `L11: --dry-run needs no store`() async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    let printed = try await flow.run("--dry-run", "--on", "postgresql://u@/d?host=/no/such/folder")
    #expect(printed.status == 0, "\(printed.error)")
    #expect(printed.text == "a: it has no outputs\n")
  }

  @Test func `L11: a store that cannot be used is an error without the password`() async throws {
    let flow = try FlowFixture(#""a": {"run": "touch ran"}"#)
    let printed = try await flow.run("--on", "postgresql://u:s3cret@/d?host=/no/such/folder")
    #expect(printed.status == 1)
    #expect(!printed.error.contains("s3cret"), "\(printed.error)")
    #expect(printed.error.contains("/no/such/folder"), "\(printed.error)")
    #expect(!flow.exists("ran"))
  }
}

@Suite(.timeLimit(.minutes(10))) struct FlowOnArgumentTests {
  @Test(arguments: [
    (["--on"], "--on without a value; expected postgresql://USER@HOST/DATABASE"),
    (["--on", "flows.sqlite"], "invalid --on; expected postgresql://USER@HOST/DATABASE"),
    (["--on", "redis://bob:s3cret@h"], "invalid --on; expected postgresql://USER@HOST/DATABASE"),
    (["--queue", "q"], "--queue without --on; expected --on ADDRESS"),
  ])
  func `L11: --on takes the address of a PostgreSQL database`(
    arguments: [String], message: String
  ) async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    let printed = try await flow.program(["run", "f.json"] + arguments).run()
    #expect(printed.status == 64)
    #expect(printed.error == "coop: flow run: \(message)\n")
  }

  @Test(
    .enabled("this build has libpq") {
      let address = "postgresql://user@/none?host=/no/such/folder"
      return try await Program.coop("journal", address, "check").run().error.contains(
        "built without PostgreSQL")
    }) func `L11: a build without libpq says what to install`() async throws
  {
    let flow = try FlowFixture(#""a": {"run": "true"}"#)
    let printed = try await flow.run("--on", "postgresql://bob:s3cret@h/d")
    #expect(printed.status == 1)
    #expect(
      printed.error == """
        coop flow: --on: this program was built without PostgreSQL; install libpq-dev, run `swift \
        package purge-cache`, and build it again

        """)
  }
}
