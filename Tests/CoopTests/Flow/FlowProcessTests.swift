import TestSupport

#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// The processes that a command starts.
  @Suite(.timeLimit(.minutes(10))) struct FlowProcessTests {
    /// How a command starts a process that leaves its process group, its session or its parent.
    static let starts = [
      "timeout 3600 sh other &", "setsid sh other &", "setsid -f sh other",
      "(setsid sh -c 'sh other & exit 0' &)", "env -i setsid /bin/sh other &",
    ]

    /// Ends with status 9 if a process of an earlier attempt is running. The first attempt waits for
    /// its other process and then for the end of the step, or fails.
    private static func command(_ start: String, then end: String) -> String {
      """
      if test -e pid; then
        case $(cut -d' ' -f3 /proc/$(cat pid)/stat 2>>e || echo Z) in Z) exit 0 ;; *) exit 9 ;; esac
      fi
      echo 'echo $$ > new; mv new pid; while :; do sleep 0.05; done' > other
      \(start)
      while ! test -e pid; do sleep 0.01; done
      \(end)
      """
    }

    private func flow(_ start: String, then end: String, _ fields: String) throws -> FlowFixture {
      let flow = try FlowFixture(#""a": {"run": ["sh", "command"]\#(fields)}"#)
      try flow.folder.write(Self.command(start, then: end), to: "command")
      return flow
    }

    @Test(arguments: starts)
    func `L8: nothing of a failed attempt runs when the next one begins`(
      start: String
    ) async throws {
      let flow = try flow(start, then: "exit 3", #", "retries": 1"#)
      let printed = try await flow.run()
      #expect(printed.ends == ["a: succeeded"], "\(printed.error)")
    }

    @Test(arguments: starts)
    func `L8: nothing of an attempt that took too long runs when the next one begins`(
      start: String
    ) async throws {
      let flow = try flow(start, then: "sleep 3600", #", "retries": 1, "timeout": "1s""#)
      let printed = try await flow.run()
      #expect(printed.ends == ["a: succeeded"], "\(printed.error)")
    }

    @Test(arguments: starts)
    func `L8: nothing of an interrupted flow runs when it has ended`(start: String) async throws {
      let flow = try flow(start, then: "touch began; sleep 3600", "")
      let path = flow.folder.path
      let stopped = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: path + "/began") }
        kill(process, SIGINT)
      }
      #expect(stopped.status == 130, "\(stopped.error)")
      #expect(hasEnded(try #require(flow.lines("pid").first.flatMap { Int32($0) })))
    }

    @Test func `L8: a process that shows no step ends with a run that fails`() async throws {
      let flow = try FlowFixture(
        """
        "a": {"run": "env -i setsid /bin/sh other & while ! test -e pid; do sleep 0.01; done"},
        "b": {"run": "while ! test -e pid; do sleep 0.01; done; exit 3"}
        """, head: #""width": 2,"#)
      try flow.folder.write(
        "echo $$ > new; mv new pid; while :; do sleep 0.05; done", to: "other")
      #expect(try await flow.run().status == 1)
      #expect(hasEnded(try #require(flow.lines("pid").first.flatMap { Int32($0) })))
    }

    @Test func `L8: a process in another session that ignores SIGTERM is killed`() async throws {
      let flow = try flow(
        "setsid sh -c \"trap '' TERM; exec sh other\" &", then: "exit 3",
        #", "retries": 1, "stop-grace": "100ms""#)
      let printed = try await flow.run()
      #expect(printed.ends == ["a: succeeded"], "\(printed.error)")
    }

    @Test func `L8: a process that runs since before the flow is not ended`() async throws {
      let flow = try FlowFixture(#""a": {"run": "sleep 0.1; exit 3"}"#)
      let coop = flow.program([]).executable.path
      // The shell becomes the flow, so the process is a child of the flow.
      let printed = try await Program(
        executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: [
          "-c",
          """
          setsid sh -c 'echo $$ > new; mv new before; exec sleep 300' &
          while ! test -e before; do sleep 0.01; done
          exec '\(coop)' flow run f.json
          """,
        ], folder: flow.folder.url
      ).run()
      #expect(printed.status == 1)
      let before = try #require(flow.lines("before").first.flatMap { Int32($0) })
      #expect(!hasEnded(before))
      kill(before, SIGKILL)
    }

    @Test func `L8: a background process of a step that succeeded continues`() async throws {
      let flow = try FlowFixture(
        """
        "a": {"run": ["sh", "start"], "outputs": ["left"]},
        "b": {"needs": ["a"], "run": "exit 3", "retries": 1}
        """)
      try flow.folder.write(
        """
        touch left
        setsid -f sh -c 'echo $$ >> left; exec sleep 3600'
        sh -c 'echo $$ >> left; exec sleep 3600' &
        while test $(wc -l < left) -lt 2; do sleep 0.01; done
        """, to: "start")
      #expect(try await flow.run().status == 1)
      let left = flow.lines("left").compactMap { Int32($0) }
      #expect(left.count == 2)
      #expect(left.allSatisfy { !hasEnded($0) })
      // Also after the next process of the flow was killed.
      try flow.write(
        """
        "a": {"run": ["sh", "start"], "outputs": ["left"]},
        "b": {"needs": ["a"], "run": "test -e pid || { echo $$ > new; mv new pid; exec sleep 3600; }"}
        """)
      let path = flow.folder.path
      _ = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: path + "/pid") }
        kill(process, SIGKILL)
      }
      let resumed = try await flow.run()
      #expect(
        resumed.error.contains("coop flow: terminating 1 command of an earlier run\n"),
        "\(resumed.error)")
      #expect(left.allSatisfy { !hasEnded($0) })
      for process in left { kill(process, SIGKILL) }
    }

    @Test func `L8: processes whose parent has ended do not remain as zombies`() async throws {
      let flow = try FlowFixture(
        """
        "a": {"run": "sh -c 'echo $$ > new; mv new orphan' & exit 0"},
        "b": {"needs": ["a"], "run": ["sh", "reaped"]}
        """)
      try flow.folder.write(
        """
        while ! test -e orphan; do :; done
        for i in $(seq 100); do test -e /proc/$(cat orphan) || exit 0; sleep 0.1; done
        exit 1
        """, to: "reaped")
      #expect(try await flow.run().status == 0)
    }

    @Test func `L8: few file descriptors fail no step`() async throws {
      let values = (0..<100).map { #""\#($0)""# }.joined(separator: ",")
      let flow = try FlowFixture(
        """
        "a": {"each": [\(values)], "run": "sleep 0.3"},
        "b": {"run": "seq 1 100"},
        "c": {"each": {"lines-of": "b"}, "run": "sleep 0.3"}
        """, head: #""width": 100,"#)
      var program = flow.program(["run", "f.json"])
      program.arguments =
        ["-c", "ulimit -n 64; exec \"$0\" \"$@\"", program.executable.path]
        + program.arguments
      program.executable = URL(fileURLWithPath: "/bin/sh")
      let printed = try await program.run()
      #expect(printed.status == 0, "\(printed.error)")
      #expect(
        printed.error.contains(
          "coop flow: width 100 is limited to 10: this process may have 64 file descriptors"),
        "\(printed.error)")
    }
  }
#endif
