import TestSupport

#if os(Linux)
  import CompositeOperations
  import Foundation
  import TestSupport
  import Testing

  @Suite(.timeLimit(.minutes(10)), .enabled { try await WithServer.isPossible() })
  struct FlowOnResumeTests {
    /// A command that says that it has begun, and waits for a file.
    private static let waiting = """
      echo $$ >> begun.new; cp begun.new begun; until test -e go || ! test -e f.json; do sleep 0.02; done; echo done
      """

    @Test(arguments: [true, false])
    func `L11: a flow that was killed takes the result of its command, which runs once`(
      endsBefore: Bool
    ) async throws {
      let on = try await FlowOnFixture(
        #"""
        "a": {"run": [["sh", "-c", "echo first >> runs; echo first"], ["sh", "command"]]},
        "b": {"run": "echo b >> runs", "needs": ["a"]}
        """#)
      try on.flow.folder.write(Self.waiting, to: "command")
      try on.startWorker()
      try await on.killWhenExists("begun")
      let process = try #require(on.flow.lines("begun").first.flatMap { Int32($0) })
      #expect(!hasEnded(process))
      if endsBefore {
        try on.flow.folder.write("", to: "go")
        try await eventually { hasEnded(process) }
      }
      let resumed = try await on.program().run { resumed in
        try await eventually {
          let error = try? String(contentsOfFile: "/proc/\(resumed)/fd/2", encoding: .utf8)
          return error?.contains(" on the workers\n") == true || hasEnded(resumed)
        }
        try on.flow.folder.write("", to: "go")
      }
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.error.contains("coop flow: continuing with 2 commands on the workers\n"))
      #expect(on.flow.lines("begun").count == 1)
      #expect(on.flow.lines("runs") == ["first", "b"])
      #expect(on.flow.outputLines("a") == ["first", "done"])
      // Its journal does not list it any more.
      let next = try await on.program().run()
      #expect(next.status == 0, "\(next.error)")
      #expect(!next.error.contains("command"), "\(next.error)")
      #expect(on.flow.lines("runs") == ["first", "b", "first", "b"])
    }

    @Test func `L11: after SIGKILL at random moments, each command has run once`() async throws {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["COMPOSITE_FLOW_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999)
      print("flow crashes on a worker: COMPOSITE_FLOW_SEED=\(seed)")
      var random = OperationRandomness.seeded(seed)
      let names = (0..<30).map { "s\($0)" }
      let steps = names.enumerated().map { index, name in
        let need = index < 3 ? "" : #""s\#(Int.random(in: 0..<index, using: &random))""#
        return #""\#(name)": {"run": "echo \#(name) >> runs; echo out", "needs": [\#(need)]}"#
      }
      let on = try await FlowOnFixture(steps.joined(separator: ",\n"), head: #""width": 3,"#)
      try on.startWorker()
      var kills = 0
      while true {
        // The last process ends by itself.
        let pause: UInt32? = kills < 30 ? UInt32.random(in: 20_000...250_000, using: &random) : nil
        let printed = try await on.program().run { process in
          guard let pause else { return }
          usleep(pause)
          kill(process, SIGKILL)
        }
        if printed.status == 0 { break }
        guard printed.status == SIGKILL else {
          Issue.record("exit status \(printed.status): \(printed.error)")
          return
        }
        kills += 1
        // Killed after the end of the run: the next process would begin a new one.
        if on.flow.lines("runs").count >= names.count,
          try await on.flow.run("--dry-run").text.contains("s0:")
        {
          break
        }
      }
      print("flow crashes on a worker: \(kills) kills")
      #expect(on.flow.lines("runs").sorted() == names.sorted())
      // A kill right after the output was appended repeats it.
      for name in names { #expect(Set(on.flow.outputLines(name)) == ["out"]) }
    }

    /// A command of which only one may be running at a time.
    private static let exclusive = """
      if test -e pids; then
        for p in $(cat pids); do
          case $(cut -d' ' -f3 /proc/$p/stat 2>>e || echo Z) in Z) ;; *) exit 9 ;; esac
        done
        exit 0
      fi
      trap '' TERM
      sleep 60 &
      echo $$ $! > new; mv new pids
      while test -e f.json; do sleep 0.1; done
      """

    /// With the signal that ends the worker, and its lease. A worker that SIGTERM ends releases its
    /// command before the lease expires.
    @Test(arguments: [(SIGKILL, "1"), (SIGTERM, "3600")])
    func `L11: the command of a killed worker ends before another worker runs it again`(
      number: Int32, lease: String
    ) async throws {
      let on = try await FlowOnFixture(#""a": {"run": [["sh", "command"]]}"#)
      try on.flow.folder.write(Self.exclusive, to: "command")
      let first = try on.startWorker("--lease", lease, "--drain", "0")
      let pids = on.flow.folder.path + "/pids"
      let printed = try await on.program().run { process in
        try await eventually { FileManager.default.fileExists(atPath: pids) || hasEnded(process) }
        await first.end(by: number)
        try on.startWorker("--lease", lease)
      }
      #expect(printed.status == 0, "\(printed.error)")
      #expect(printed.ends == ["a: succeeded"])
    }

    @Test func `L11: a command may end on a worker that a signal ends`() async throws {
      let on = try await FlowOnFixture(
        #""a": {"run": "echo run >> runs; while ! test -e go; do sleep 0.05; done; exit 3", "retries": 1}"#
      )
      let worker = try on.startWorker("--drain", "3600")
      let runs = on.flow.folder.path + "/runs"
      let printed = try await on.program().run { _ in
        try await eventually { FileManager.default.fileExists(atPath: runs) }
        kill(worker.process, SIGTERM)
        try await eventually {
          worker.errors.contains("waiting up to 3600 s for steps in progress")
        }
        try on.flow.folder.write("", to: "go")
        #expect(await worker.status == 128 + SIGTERM)
        try on.startWorker()
      }
      #expect(printed.status == 1)
      // The first attempt was not repeated, and its failure was kept.
      #expect(
        printed.error.contains("step 'a' failed: exit status 3 after 2 attempts"),
        "\(printed.error)")
      #expect(on.flow.lines("runs").count == 2)
    }

    @Test(arguments: [false, true])
    func `L11: a command on a worker that ends is cancelled after a limit, or ends with the worker`(
      isSignalledTwice: Bool
    ) async throws {
      let on = try await FlowOnFixture(
        #""a": {"run": "echo run >> runs; while ! test -e go; do sleep 0.05; done"}"#)
      let worker = try on.startWorker("--lease", "2", "--drain", isSignalledTwice ? "3600" : "1")
      let runs = on.flow.folder.path + "/runs"
      let printed = try await on.program().run { _ in
        try await eventually { FileManager.default.fileExists(atPath: runs) }
        kill(worker.process, SIGTERM)
        if isSignalledTwice {
          try await eventually { worker.errors.contains("a second signal ends it at once") }
          kill(worker.process, SIGTERM)
        }
        #expect(await worker.status == 128 + SIGTERM)
        // Otherwise the next worker waits for the end of its lease.
        let isReleased = worker.errors.contains("interrupted; its runs are released")
        #expect(isReleased == !isSignalledTwice, "\(worker.errors)")
        try on.flow.folder.write("", to: "go")
        try on.startWorker()
      }
      #expect(printed.status == 0, "\(printed.error)")
      #expect(printed.ends == ["a: succeeded"])
      #expect(on.flow.lines("runs").count == 2)
    }

    @Test(arguments: ["changed", "fresh", "gone"], [false, true])
    func `L11: a command that is not continued ends before a step begins`(
      change: String, isWorkerKilled: Bool
    ) async throws {
      let on = try await FlowOnFixture(#""a": {"run": [["sh", "command"]]}"#)
      try on.flow.folder.write(Self.exclusive, to: "command")
      let worker = try on.startWorker("--lease", "1")
      try await on.killWhenExists("pids")
      if isWorkerKilled {
        await worker.end(by: SIGKILL)
        try on.startWorker("--lease", "1")
      }
      switch change {
      case "changed": try on.flow.write(#""a": {"run": [["sh", "command", "new"]]}"#)
      case "gone": try on.flow.write(#""b": {"run": [["sh", "command"]]}"#)
      default: break
      }
      let program = change == "fresh" ? on.program("--fresh") : on.program()
      let resumed = try await program.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(
        resumed.error.contains("coop flow: ending 1 command of an earlier run on the workers\n"),
        "\(resumed.error)")
    }

    @Test func `L11: a step whose need runs again does not take an earlier result`() async throws {
      let on = try await FlowOnFixture(
        #""a": {"run": "echo a"}, "b": {"run": [["sh", "command"]], "needs": ["a"]}"#)
      try on.flow.folder.write(Self.exclusive, to: "command")
      try on.startWorker()
      try await on.killWhenExists("pids")
      try on.flow.write(
        #""a": {"run": [["sh", "command"]]}, "b": {"run": [["sh", "command"]], "needs": ["a"]}"#)
      let resumed = try await on.program().run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.ends == ["a: succeeded", "b: succeeded"])
    }

    @Test func `L11: a step that failed runs again, and does not take an earlier result`()
      async throws
    {
      let on = try await FlowOnFixture(#""a": {"run": "echo run >> runs; test -e go"}"#)
      try on.startWorker()
      #expect(try await on.program().run().status == 1)
      try on.flow.folder.write("", to: "go")
      let resumed = try await on.program().run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.error.contains("resuming run 1"))
      #expect(on.flow.lines("runs").count == 2)
    }

    @Test func `L11: without --on, a run with commands on workers is refused, unless it is fresh`()
      async throws
    {
      let on = try await FlowOnFixture(#""a": {"run": [["sh", "command"]]}"#)
      try on.flow.folder.write(Self.waiting, to: "command")
      try on.startWorker()
      try await on.killWhenExists("begun")
      let refused = try await on.flow.run()
      #expect(refused.status == 1)
      let place = "the workers of \(on.address), queue '\(on.queue)'"
      #expect(
        refused.error.hasSuffix(
          """
          coop flow: 1 command of run 1 may be running on \(place); add --on with that address, or \
          --fresh, which leaves it running

          """), "\(refused.error)")
      try on.flow.folder.write("", to: "go")
      let fresh = try await on.flow.run("--fresh")
      #expect(fresh.status == 0, "\(fresh.error)")
      #expect(fresh.error.contains("leaving 1 command of run 1 on \(place)"), "\(fresh.error)")
    }
  }
#endif
