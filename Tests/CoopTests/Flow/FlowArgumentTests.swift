import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowArgumentTests {
  @Test(arguments: [
    ([], "flow: no action; expected run, show, runs, status, log or schema"),
    (["go"], "flow: unknown action go; expected run, show, runs, status, log or schema"),
    (["run"], "flow run: no FILE; expected FILE"),
    (["show", "a", "b"], "flow show: unexpected argument b; expected FILE"),
    (["run", "a", "--run", "a/b"], "flow run: invalid name of a run a/b; expected letters, "),
    (["run", "a", "--run", "x", "--only", "c"], "flow run: --run with --from or --only, which "),
    (["run", "a", "b", "--only", "c"], "flow run: b and --from or --only; expected steps, or "),
    (["run", "a", "--fast"], "flow run: unknown option --fast; expected --set, "),
    (["run", "a", "--set"], "flow run: --set without a value; expected name=text"),
    (["run", "a", "--set", "=x"], "flow run: invalid value =x; expected name=text"),
    (["run", "a", "--from"], "flow run: --from without a value; expected the name of a step"),
    (["run", "a", "--timeline", "b"], "invalid timeline file b; expected"),
    (
      ["run", "a", "--output", "all"],
      "flow run: invalid --output all; expected quiet, live or grouped"
    ),
    (["show", "a", "--json"], "flow show: unknown option --json; expected no options"),
    (["runs", "a", "--run", "b"], "flow runs: unknown option --run; expected --state or --json"),
    (["log", "a"], "flow log: no STEP; expected FILE and STEP"),
    (["schema", "a"], "flow schema: unexpected argument a; expected no arguments"),
  ])
  func `invalid arguments are reported in one line with the expected ones`(
    arguments: [String], message: String
  ) async throws {
    var program = Program.coop()
    program.arguments = ["flow"] + arguments
    let printed = try await program.run()
    #expect(printed.status == 64)
    #expect(printed.output.isEmpty)
    #expect(printed.error.contains(message), "\(printed.error)")
    #expect(printed.error.split(separator: "\n").count == 1)
  }

  @Test func `an unknown step is reported with a similar one`() async throws {
    let flow = try FlowFixture(#""build": {"run": "true"}"#)
    for arguments in [["--from", "biuld"], ["--only", "biuld"], ["biuld"]] {
      let printed = try await flow.program(["run", "f.json"] + arguments).run()
      #expect(printed.status == 1)
      #expect(printed.error == "f.json: unknown step 'biuld'; did you mean 'build'?\n")
    }
  }

  @Test func `an unknown value is reported`() async throws {
    let flow = try FlowFixture(#""a": {"run": "true"}"#, head: #""values": {"version": "1"},"#)
    let printed = try await flow.run("--set", "versoin=2")
    #expect(printed.status == 1)
    #expect(
      printed.error == "f.json: unknown value 'versoin'; did you mean 'version'?\n")
  }
}
