import Foundation
import TestSupport
import Testing

/// The rows of "Coming from make, just, go-task, snakemake and dagu" in the article that the tests of
/// the rules do not show.
@Suite(.timeLimit(.minutes(10))) struct FlowPeerTests {
  private func run(
    _ steps: String, head: String = "", files: [String] = [], _ arguments: [String] = []
  ) async throws -> (flow: FlowFixture, ends: [String]) {
    let flow = try FlowFixture(steps, head: head)
    for file in files { try flow.folder.write("\(file)\n", to: file) }
    let printed = try await flow.program(["run", "f.json"] + arguments).run()
    #expect(printed.status == 0, "\(printed.error)")
    return (flow, printed.ends)
  }

  @Test func `a group of targets is a step without commands`() async throws {
    let steps = """
      "app": {"run": "touch app", "needs": ["lib"]}, "lib": {"run": "touch lib"},
      "docs": {"run": "touch docs"}, "all": {"needs": ["app", "docs"]}
      """
    #expect(try await run(steps, ["app"]).ends == ["lib: succeeded", "app: succeeded"])
    #expect(try await run(steps, ["all"]).ends.last == "all: succeeded")
  }

  @Test func `an order-only prerequisite is a step with an output that it writes once`()
    async throws
  {
    let (flow, _) = try await run(
      """
      "folder": {"run": "mkdir -p out; touch out.ready", "outputs": ["out.ready"]},
      "a": {"run": "cp a out/a", "inputs": ["a"], "outputs": ["out/a"], "needs": ["folder"]}
      """, files: ["a"])
    try flow.folder.write("", to: "out/other")
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
  }

  @Test func `a rule for a list of names is a step with each`() async throws {
    let (flow, _) = try await run(
      """
      "object": {"each": ["a", "b"], "run": ["cp", "${each}.c", "${each}.o"],
        "inputs": ["${each}.c"], "outputs": ["${each}.o"]}
      """, files: ["a.c", "b.c"])
    try flow.folder.write("changed", to: "b.c")
    #expect(
      try await flow.run().ends == [
        "object[a]: up to date", "object[b]: succeeded", "object: succeeded",
      ])
    #expect(flow.lines("a.o") + flow.lines("b.o") == ["a.c", "changed"])
  }

  @Test func `the shell removes the end of a name`() async throws {
    let (flow, _) = try await run(
      #""o": {"each": "*.c", "run": "cp \"$each\" \"${each%.c}.o\""}"#, files: ["a b.c"])
    #expect(flow.lines("a b.o") == ["a b.c"])
  }

  @Test func `the files of another step are a need and a pattern`() async throws {
    let steps = """
      "map": {"each": "*.in", "run": ["cp", "${each}", "${each}.out"], "inputs": ["${each}"],
        "outputs": ["${each}.out"]},
      "all": {"run": "cat *.out > all", "needs": ["map"], "inputs": ["*.out"], "outputs": ["all"]}
      """
    let (flow, _) = try await run(steps, files: ["a.in", "b.in"])
    try flow.folder.write("c.in\n", to: "c.in")
    _ = try await flow.run()
    #expect(flow.lines("all") == ["a.in", "b.in", "c.in"])
  }

  @Test func `another interpreter is the shell of a step`() async throws {
    let (flow, _) = try await run(
      #""a": {"shell": ["awk"], "run": "BEGIN { print ENVIRON[\"v\"] > \"out\" }"}"#,
      head: #""values": {"v": "a text"},"#, ["--set", "v=another text"])
    #expect(flow.lines("out") == ["another text"])
  }

  @Test func `a failure does not matter, by the shell, by accept or by after`() async throws {
    let flow = try FlowFixture(
      """
      "shell": {"run": "false || true; touch shell"}, "accept": {"run": "exit 1", "accept": [0, 1]},
      "failed": {"run": "exit 1", "needs": ["shell", "accept"]},
      "after": {"run": "touch after", "after": ["failed"]}
      """)
    #expect(try await flow.run().status == 1)
    #expect(flow.exists("shell") && flow.exists("after"))
  }

  @Test func `a step that is done is skipped by its condition`() async throws {
    let (flow, ends) = try await run(#""a": {"run": "touch done", "only-if": "test ! -e done"}"#)
    #expect(ends == ["a: succeeded"])
    #expect(try await flow.run().ends == ["a: skipped, only-if is not met"])
  }

  @Test func `the output of a command is a part of a text, or the children of a step`()
    async throws
  {
    let (flow, _) = try await run(
      #"""
      "text": {"run": "version=$(cat VERSION); echo \"$version\" > text"},
      "list": {"run": "printf 'x\\ny\\n'"},
      "each": {"each": {"lines-of": "list"}, "run": "touch $each"}
      """#, files: ["VERSION"])
    #expect(flow.lines("text") == ["VERSION"])
    #expect(flow.exists("x") && flow.exists("y"))
  }

  @Test func `a step can run another flow file`() async throws {
    let coop = Program.coop().executable.path
    let flow = try FlowFixture(#""a": {"run": ["\#(coop)", "flow", "run", "other.json"]}"#)
    try flow.folder.write(
      #"{"flow": "other", "steps": {"b": {"run": "touch b"}}}"#, to: "other.json")
    #expect(try await flow.run().status == 0)
    #expect(flow.exists("b"))
  }

  @Test func `permits of a lock limit what some steps need together`() async throws {
    let steps = (0..<4).map { number in
      """
      "s\(number)": {"locks": {"memory": 8}, "run": "mkdir memory; rmdir memory"}
      """
    }
    _ = try await run(steps.joined(separator: ","), head: #""width": 4, "locks": {"memory": 15},"#)
  }
}
