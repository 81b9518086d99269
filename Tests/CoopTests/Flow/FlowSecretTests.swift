import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowSecretTests {
  private static let secret = "s3cr3t-wörd"
  private static let lines = "first line\nsecond line"

  private func flow(_ steps: String, head: String = "") throws -> FlowFixture {
    try FlowFixture(
      steps,
      head: #""secrets": ["TOKEN", "KEY", "OWN"], "env": {"OWN": "o-wn", "DSN": "d-s3cr3t-wörd"}, "#
        + #""values": {"v": "wn"}, \#(head)"#)
  }

  private func run(_ flow: FlowFixture, _ arguments: String...) async throws -> ProgramResult {
    try await run(flow, arguments)
  }

  private func run(_ flow: FlowFixture, _ arguments: [String]) async throws -> ProgramResult {
    var program = flow.program(["run", "f.json"] + arguments)
    program.environment["TOKEN"] = Self.secret
    program.environment["KEY"] = Self.lines
    return try await program.run()
  }

  /// The files of the state that have a text.
  private func files(_ flow: FlowFixture, with text: String) throws -> [String] {
    let state = flow.folder.path + "/.flow"
    return try FileManager.default.subpathsOfDirectory(atPath: state).filter { name in
      let bytes = FileManager.default.contents(atPath: state + "/" + name) ?? Data()
      return bytes.range(of: Data(text.utf8)) != nil
    }
  }

  @Test func `L22: no log, message or record has the text of a secret`() async throws {
    let flow = try flow(
      """
      "a": {"run": "echo =$TOKEN=$OWN; echo \\"$KEY\\" >&2; printf %s $TOKEN; touch a",
        "outputs": ["a"]},
      "b": {"run": ["sh", "-c", "echo fails $$TOKEN; exit 3", "x"], "needs": ["a"], "retries": 1,
        "timeout": "1m"},
      "c": {"run": [["$$TOKEN"], ["echo", "o-wn"]], "after": ["b"]}
      """, head: #""on": {"always": "echo on $TOKEN $FLOW_REASON; exit 4"}, "output": "live","#)
    for format in [["--json", "--trace", "t.json", "--timeline", "t.html"], []] {
      let printed = try await run(flow, ["--keep-going", "--fresh"] + format)
      let traces = (flow.text("t.json") ?? "") + (flow.text("t.html") ?? "")
      let all = printed.text + printed.error + traces
      try #require(flow.exists(".flow"), "\(all)")
      #expect(printed.status == 1)
      for text in [Self.secret, "first line", "second line", "o-wn"] {
        #expect(!all.contains(text), "\(all)")
        #expect(try files(flow, with: text) == [], "\(text)")
      }
      #expect(all.contains("fails ***") && all.contains("on *** b: exit status 3"), "\(all)")
    }
    #expect(flow.output("a") == "=***=***\n***\n***\n***\n")
  }

  @Test func `L22: a changed secret runs its step again, and an equal one does not`() async throws {
    let flow = try flow(#""a": {"run": "echo $TOKEN > a", "outputs": ["a"]}"#)
    #expect(try await run(flow).ends == ["a: succeeded"])
    #expect(try await run(flow, "--dry-run").text == "nothing would run\n")
    #expect(try await run(flow).ends == [])
    var other = flow.program(["run", "f.json"])
    // A part of the other variable, so that this one does not change.
    other.environment["TOKEN"] = "s3cr3t"
    #expect(try await other.run().ends == ["a: succeeded"])
    #expect(flow.text("a") == "s3cr3t\n")
  }

  @Test func `L22: a secret that would be stored is an error`() async throws {
    let lines = try flow(
      #""a": {"run": "echo $TOKEN"}, "b": {"each": {"lines-of": "a"}, "run": "true"}"#)
    let printed = try await run(lines)
    #expect(
      printed.ends.first == "a: failed, it wrote a secret, which would be stored for lines-of")
    #expect(try files(lines, with: Self.secret) == [])
    let value = try FlowFixture(
      #""a": {"run": "true"}"#, head: #""values": {"T": "x"}, "secrets": ["T", "a-b"],"#)
    let problems = try await value.run()
    #expect(problems.status == 1)
    #expect(problems.error.contains("'T' in secrets is a value, which is stored with each run"))
    #expect(problems.error.contains("invalid variable 'a-b' in secrets"))
    let rows = try flow(#""a": {"each": {"rows-of": "rows.csv"}, "run": "true"}"#)
    try rows.folder.write("name,token\nx,\(Self.secret)\n", to: "rows.csv")
    let named = try await run(rows)
    #expect(
      named.ends.first
        == "a: failed, a child has a secret in its name, which would be stored", "\(named.text)")
    #expect(try files(rows, with: Self.secret) == [])
    let made = try FlowFixture(
      #""a": {"run": "true"}"#,
      head: #""values": {"t": "x"}, "env": {"T": "${t}"}, "secrets": ["T"],"#)
    let using = try await made.run()
    #expect(using.error.contains("the secret 'T' uses ${t}, which is stored"), "\(using.error)")
    let unset = try FlowFixture(#""a": {"run": "true"}"#, head: #""secrets": ["NO_SUCH"],"#)
    #expect(try await unset.run().error.contains("the secret 'NO_SUCH' is not set"))
    let remote = try await run(lines, "--on", "postgresql://u@127.0.0.1:1/x")
    #expect(remote.error.contains("--on with a file that has secrets"), "\(remote.error)")
  }
}
