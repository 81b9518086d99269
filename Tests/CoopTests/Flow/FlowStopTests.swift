import TestSupport

#if os(Linux)
  import Foundation
  import SystemSupport
  import TestSupport
  import Testing

  /// Commands that the flow terminates.
  @Suite(.timeLimit(.minutes(10))) struct FlowStopTests {
    /// At first it runs until it is terminated, and then exits with status 0. Later it does its work.
    private static let command = """
      if test -e began; then echo whole > out; exit 0; fi
      trap 'exit 0' TERM
      echo half > out
      touch began
      while :; do sleep 0.01; done
      """

    private func flow(_ fields: String = "", _ others: String = "") throws -> FlowFixture {
      let flow = try FlowFixture(
        #""a": {"run": ["sh", "command"], "outputs": ["out"]\#(fields)}\#(others)"#,
        head: #""width": 2,"#)
      try flow.folder.write(Self.command, to: "command")
      return flow
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `L13: a command that a signal has terminated has not succeeded, whatever its status`(
      signal: Int32
    ) async throws {
      let flow = try flow()
      let began = flow.folder.path + "/began"
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: began) }
        kill(process, signal)
      }
      #expect(stopped.status == 128 + signal, "\(stopped.error)")
      let resumed = try await flow.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(flow.lines("out") == ["whole"])
    }

    @Test func `L13: a command that ends because another one failed has not succeeded`()
      async throws
    {
      let flow = try flow(
        "", #", "b": {"run": "while ! test -e began; do sleep 0.01; done; test -e out2"}"#)
      let stopped = try await flow.run()
      #expect(stopped.status == 1)
      #expect(stopped.ends.contains("a: cancelled"), "\(stopped.text)")
      try flow.folder.write("", to: "out2")
      let resumed = try await flow.run()
      #expect(resumed.ends.sorted() == ["a: succeeded", "b: succeeded"], "\(resumed.error)")
      #expect(flow.lines("out") == ["whole"])
    }

    @Test func `L13: a command that ends by its timeout has not succeeded`() async throws {
      let flow = try flow(#", "timeout": "1s""#)
      let stopped = try await flow.run()
      #expect(stopped.ends == ["a: failed, timeout of 1 s"], "\(stopped.text)")
      let resumed = try await flow.run()
      #expect(resumed.ends == ["a: succeeded"], "\(resumed.error)")
      #expect(flow.lines("out") == ["whole"])
    }

    @Test func `L13: a command that ended before the signal has succeeded`() async throws {
      let flow = try FlowFixture(
        #""a": {"run": "echo $$ > new; mv new pid; while ! test -e go; do sleep 0.01; done"}"#)
      let path = flow.folder.path
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: path + "/pid") }
        // The flow notices the end of the command and the signal at the same time.
        kill(process, SIGSTOP)
        try flow.folder.write("", to: "go")
        let command = try #require(flow.lines("pid").first.flatMap { Int32($0) })
        try await eventually { hasEnded(command) }
        kill(process, SIGINT)
        kill(process, SIGCONT)
      }
      #expect(stopped.ends == ["a: succeeded"], "\(stopped.error)")
    }

    @Test func `L8: a command has its grace period before SIGKILL`() async throws {
      let flow = try FlowFixture(
        """
        "patient": {
          "run": "trap 'sleep 3; touch cleaned; exit 1' TERM; touch patient; sleep 60 & wait"},
        "hasty": {"run": "trap 'touch told' TERM; touch hasty; while :; do sleep 0.01; done",
          "stop-grace": "0s"}
        """, head: #""width": 2,"#)
      let path = flow.folder.path
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually {
          ["hasty", "patient"].allSatisfy {
            FileManager.default.fileExists(atPath: path + "/" + $0)
          }
        }
        kill(process, SIGINT)
      }
      #expect(stopped.status == 130)
      #expect(flow.exists("cleaned"))
      #expect(!flow.exists("told"))
    }

    @Test func `L8: what a process runs to clean up is not terminated`() async throws {
      let flow = try FlowFixture(#""a": {"run": ["sh", "command"]}"#)
      try flow.folder.write(
        """
        trap 'sleep 0.3 && touch cleaned1; exit' TERM
        setsid sh other &
        while :; do sleep 0.01; done
        """, to: "command")
      // Each of its parts takes longer than the pause between two looks at the processes.
      try flow.folder.write(
        """
        trap 'sleep 0.3 && sh -c "sleep 0.1; sleep 0.1" && touch cleaned2; exit' TERM
        touch began
        while :; do sleep 0.01; done
        """, to: "other")
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { flow.exists("began") }
        kill(process, SIGINT)
      }
      #expect(stopped.status == 130)
      #expect(flow.exists("cleaned1"))
      #expect(flow.exists("cleaned2"))
    }

    @Test func `L8: a second signal kills at once, also in other sessions`() async throws {
      let flow = try FlowFixture(#""a": {"run": ["sh", "command"]}"#, head: #""stop-grace": "1h","#)
      try flow.folder.write(
        """
        trap 'touch told1' TERM
        setsid sh -c 'trap "touch told2" TERM; echo $$ > new; mv new pid; while :; do sleep 0.01; done' &
        while :; do sleep 0.01; done
        """, to: "command")
      let path = flow.folder.path
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        // A process that begins in the same hundredth of a second as SIGINT would be one that cleans up.
        try await eventually {
          flow.lines("pid").first.flatMap { Int32($0) }.flatMap(ProcessTable.listed)
            .map { $0.began < ProcessTable.now } ?? false
        }
        kill(process, SIGINT)
        try await eventually {
          ["told1", "told2"].allSatisfy { FileManager.default.fileExists(atPath: path + "/" + $0) }
        }
        kill(process, SIGINT)
      }
      #expect(stopped.status == 130)
      let other = try #require(flow.lines("pid").first.flatMap { Int32($0) })
      try await eventually { hasEnded(other) }
    }

    // MARK: Ctrl-Z

    /// The state of a process, such as T.
    private static func state(_ process: Int32) -> String? {
      let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      return stat?.split(separator: ")").last?.split(separator: " ").first.map(String.init)
    }

    @Test(.timeLimit(.minutes(10)))
    func `L8: Ctrl-Z stops the commands and the flow, and both continue`() async throws {
      let flow = try FlowFixture(#""a": {"run": ["sh", "command"]}"#)
      try flow.folder.write(
        """
        mkfifo gate
        # No program begins meanwhile: a shell that waits for the beginning of one is not shown as stopped.
        setsid sh -c 'echo $$ >> pids; read line < gate' &
        echo $$ >> pids
        wait
        """, to: "command")
      let path = flow.folder.path
      let printed = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { flow.lines("pids").count == 2 }
        let processes = flow.lines("pids").compactMap { Int32($0) } + [process]
        kill(process, SIGTSTP)
        try await eventually { processes.allSatisfy { Self.state($0) == "T" } }
        kill(process, SIGCONT)
        try await eventually { processes.allSatisfy { Self.state($0) != "T" } }
        // A second time.
        kill(process, SIGTSTP)
        try await eventually { processes.allSatisfy { Self.state($0) == "T" } }
        kill(process, SIGCONT)
        try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/gate")).write(
          contentsOf: Data("\n".utf8))
      }
      #expect(printed.ends == ["a: succeeded"], "\(printed.error)")
    }

    @Test func `L8: SIGQUIT is passed on`() async throws {
      let flow = try FlowFixture(#""a": {"run": ["sh", "command"]}"#)
      try flow.folder.write(
        """
        trap ': > quit' QUIT
        trap 'exit 1' TERM
        touch began
        while :; do sleep 0.01; done
        """, to: "command")
      let path = flow.folder.path
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: path + "/began") }
        kill(process, SIGQUIT)
      }
      #expect(stopped.status == 131)
      #expect(flow.exists("quit"))
    }
  }
#endif
