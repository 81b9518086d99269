import TestSupport

#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Steps that use the terminal.
  @Suite(.timeLimit(.minutes(10))) struct FlowTerminalTests {
    /// Runs the flow in a new session with a terminal, into which a user types a text.
    private func run(_ flow: FlowFixture, typing text: String) async throws -> ProgramResult? {
      guard var script = Program.installed("script") else { return nil }
      let coop = flow.program([]).executable.path
      try flow.folder.write(text, to: "typed")
      script.arguments = [
        "-c", #"exec "$0" -qec "$1 flow run f.json" /dev/null < typed"#, script.executable.path,
        coop,
      ]
      script.executable = URL(fileURLWithPath: "/bin/sh")
      script.folder = flow.folder.url
      return try await script.run()
    }

    @Test func `L8: an interactive step has the terminal, one at a time`() async throws {
      let steps = ["a", "b"].map { name in
        """
        "\(name)": {"interactive": true,
          "run": "mkdir one; printf 'Password: ' > /dev/tty; read x; echo \(name) $x >> got; rmdir one"}
        """
      }
      let flow = try FlowFixture(steps.joined(separator: ","), head: #""width": 2,"#)
      guard let printed = try await run(flow, typing: "secret\nsecret\n") else { return }
      #expect(printed.status == 0, "\(printed.text)")
      #expect(flow.lines("got").sorted() == ["a secret", "b secret"])
      #expect(printed.text.contains("Password: "))
    }

    @Test func `L8: a step that reads the terminal and is not interactive fails`() async throws {
      let flow = try FlowFixture(#""a": {"run": "read x < /dev/tty"}"#)
      guard let printed = try await run(flow, typing: "secret\n") else { return }
      #expect(printed.status == 1)
      #expect(printed.text.contains("'interactive: true'"), "\(printed.text)")
    }

    @Test func `L8: a zombie of an interactive step does not keep others`() async throws {
      let flow = try FlowFixture(
        """
        "a": {"interactive": true, "run": "sh -c 'echo $$ > new; mv new own' & exit 0"},
        "b": {"needs": ["a"], "run": ["sh", "zombie"]},
        "c": {"needs": ["b"], "run": "sh -c 'echo $$ > new; mv new orphan' & exit 0"},
        "d": {"needs": ["c"], "run": ["sh", "reaped"]}
        """)
      try flow.folder.write(
        """
        while ! test -e own; do :; done
        while ! grep -q 'State:.Z' /proc/$(cat own)/status; do sleep 0.01; done
        """, to: "zombie")
      try flow.folder.write(
        """
        while ! test -e orphan; do :; done
        for i in $(seq 100); do test -e /proc/$(cat orphan) || exit 0; sleep 0.1; done
        exit 1
        """, to: "reaped")
      guard let printed = try await run(flow, typing: "") else { return }
      #expect(printed.status == 0, "\(printed.text)")
    }

    @Test func `L8: an interactive step fails without a terminal`() async throws {
      guard var program = Program.installed("setsid") else { return }
      let flow = try FlowFixture(#""a": {"run": "read x", "interactive": true}"#)
      program.arguments = ["-w", flow.program([]).executable.path, "flow", "run", "f.json"]
      program.folder = flow.folder.url
      let printed = try await program.run()
      #expect(printed.status == 1)
      #expect(
        printed.error.contains("it is interactive, and the flow has no terminal"),
        "\(printed.error)")
    }
  }
#endif
