import TestSupport

#if os(Linux)
  import Foundation
  import SQLiteSupport
  import TestSupport
  import Testing

  /// The commands that outlive the process that ran their flow.
  @Suite(.timeLimit(.minutes(10))) struct FlowOrphanTests {
    @Test(arguments: [false, true])
    func `L8: a command that outlived its flow is terminated before it runs again`(
      ignoresSignal: Bool
    ) async throws {
      let flow = try FlowFixture(
        """
        "a": {"run": [["sh", "command"]], "stop-grace": "100ms"}
        """)
      // It has a child, which must end too.
      try flow.folder.write(
        """
        if test -e pids; then
          for p in $(cat pids); do
            case $(cut -d' ' -f3 /proc/$p/stat 2>>e || echo Z) in Z) ;; *) exit 9 ;; esac
          done
          exit 0
        fi
        \(ignoresSignal ? "trap '' TERM" : "")
        sleep 3600 &
        echo $$ $! > new; mv new pids
        wait
        while :; do sleep 1; done
        """, to: "command")
      let pids = flow.folder.path + "/pids"
      _ = try await flow.program(["run", "f.json"]).run { process in
        try await eventually { FileManager.default.fileExists(atPath: pids) }
        kill(process, SIGKILL)
      }
      let resumed = try await flow.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(
        resumed.error.contains("coop flow: terminating 1 command of an earlier run\n"),
        "\(resumed.error)")
    }

    /// Runs until it is terminated, and ends with status 9 if its earlier process is still running.
    private static let command = """
      if test -e pid; then
        case $(cut -d' ' -f3 /proc/$(cat pid)/stat 2>>e || echo Z) in Z) exit 0 ;; *) exit 9 ;; esac
      fi
      echo $$ > new; mv new pid
      while :; do sleep 1; done
      """

    /// Runs a flow with one step, and kills the process that runs it when the journal has the command.
    ///
    /// - Returns: The flow, and the process of the command.
    private func interrupted(_ run: String) async throws -> (flow: FlowFixture, command: Int32) {
      let flow = try FlowFixture(#""a": {"run": \#(run)}"#)
      try flow.folder.write(Self.command, to: "command")
      let path = flow.folder.path
      _ = try await flow.program(["run", "f.json"]).run { process in
        try await eventually {
          usleep(10_000)
          let rows = try? Self.journal(path).fetchAll("SELECT pid FROM flow_process") {
            $0.integer(at: 0)
          }
          return rows?.isEmpty == false && FileManager.default.fileExists(atPath: path + "/pid")
        }
        kill(process, SIGKILL)
      }
      return (flow, try #require(flow.lines("pid").first.flatMap { Int32($0) }))
    }

    private static func journal(_ folder: String) throws -> SQLiteConnection {
      try SQLiteConnection.open(
        folder + "/.flow/f/state.sqlite", for: .writing,
        SQLiteConfiguration(access: .existing, durability: .normal))
    }

    @Test func `L8: a command without the variable of its flow is found by the journal`()
      async throws
    {
      let (flow, _) = try await interrupted(#"["env", "-u", "COOP_FLOW", "sh", "command"]"#)
      let resumed = try await flow.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.error.contains("coop flow: terminating 1 command of an earlier run\n"))
    }

    @Test func `L8: a command that the journal does not have is found by its variable`()
      async throws
    {
      let (flow, _) = try await interrupted(#"["sh", "command"]"#)
      try Self.journal(flow.folder.path).execute("DELETE FROM flow_process")
      let resumed = try await flow.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.error.contains("coop flow: terminating 1 command of an earlier run\n"))
    }

    @Test(arguments: [true, false])
    func `L8: a command is found in a folder that was moved or is reached through a link`(
      isMoved: Bool
    ) async throws {
      let (flow, _) = try await interrupted(#"["sh", "command"]"#)
      let path = flow.folder.path
      try Self.journal(path).execute("DELETE FROM flow_process")
      _ = try flow.folder.link("link", to: ".")
      if isMoved { try FileManager.default.moveItem(atPath: path, toPath: path + "-moved") }
      defer {
        if isMoved { try? FileManager.default.moveItem(atPath: path + "-moved", toPath: path) }
      }
      var program = flow.program(["run", isMoved ? "f.json" : "link/f.json"])
      if isMoved { program.folder = URL(fileURLWithPath: path + "-moved") }
      let resumed = try await program.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(resumed.error.contains("coop flow: terminating 1 command of an earlier run\n"))
    }

    @Test func `L8: a process that has the number of an earlier command is not terminated`()
      async throws
    {
      let (flow, command) = try await interrupted(#"["sh", "command"]"#)
      kill(-command, SIGKILL)
      let other = try TestProgram("/bin/sleep", ["3600"]).start()
      try Self.journal(flow.folder.path).execute(
        "UPDATE flow_process SET pid = ?1", [.integer(Int64(other.processIdentifier))])
      let resumed = try await flow.run()
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(!resumed.error.contains("terminating"), "\(resumed.error)")
      // A program that has ended before has another status.
      kill(other.processIdentifier, SIGINT)
      #expect(await other.end() == SIGINT)
    }
  }
#endif
