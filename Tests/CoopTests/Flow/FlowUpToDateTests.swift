import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowUpToDateTests {
  private static let step = """
    "a": {"run": "cat in/*.txt > out; echo a >> log", "inputs": ["in/*.txt"], "outputs": ["out"]}
    """

  private func fixture() async throws -> FlowFixture {
    let flow = try FlowFixture(Self.step, head: #""values": {"v": "1"},"#)
    try flow.folder.write("1", to: "in/1.txt")
    #expect(try await flow.run().status == 0)
    return flow
  }

  @Test func `L6: an unchanged step with outputs does not run`() async throws {
    let flow = try await fixture()
    let printed = try await flow.run()
    #expect(printed.status == 0)
    #expect(printed.error == "coop flow: 'f': all steps are up to date\n")
    #expect(flow.lines("log") == ["a"])
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    // A value that it does not use.
    #expect(try await flow.run("--set", "v=2").text.isEmpty)
  }

  enum Change: CaseIterable {
    case newer, older, size, added, removed, outputRemoved, outputChanged, definition, accept

    var reason: String {
      switch self {
      case .newer: "a: in/1.txt is newer"
      case .older: "a: in/1.txt has changed"
      case .size: "a: in/1.txt is newer"
      case .added: "a: in/2.txt is new"
      case .removed: "a: in/1.txt was removed"
      case .outputRemoved: "a: its output out is missing"
      case .outputChanged: "a: its output out is newer"
      case .definition, .accept: "a: its definition changed"
      }
    }

    func make(_ flow: FlowFixture) throws {
      let manager = FileManager.default
      func setTime(_ name: String, _ seconds: TimeInterval) throws {
        try manager.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: seconds)],
          ofItemAtPath: flow.folder.path + "/" + name)
      }
      switch self {
      case .newer: try setTime("in/1.txt", 10)
      case .older: try setTime("in/1.txt", -1_000)
      case .size:
        try flow.folder.write("12", to: "in/1.txt")
        try setTime("in/1.txt", 10)
      case .added: try flow.folder.write("2", to: "in/2.txt")
      case .removed:
        try flow.remove("in/1.txt")
        // The command needs one.
        try flow.folder.write("0", to: "in/0.txt")
        try flow.remove("in/0.txt")
        try flow.write(FlowUpToDateTests.step, head: #""values": {"v": "1"},"#)
      case .outputRemoved: try flow.remove("out")
      case .outputChanged: try setTime("out", 10)
      case .definition:
        try flow.write(
          FlowUpToDateTests.step.replacing("> out", with: "> ./out"),
          head: #""values": {"v": "1"},"#)
      case .accept:
        try flow.write(
          FlowUpToDateTests.step.replacing(#""inputs""#, with: #""accept": [0, 1], "inputs""#),
          head: #""values": {"v": "1"},"#)
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `L6: a step with outputs runs if something changed, and --dry-run names it`(
    change: Change
  ) async throws {
    let flow = try await fixture()
    try change.make(flow)
    let plan = try await flow.run("--dry-run")
    #expect(plan.status == 0)
    #expect(plan.text == change.reason + "\n")
    #expect(flow.lines("log") == ["a"])
    let printed = try await flow.run()
    #expect(printed.ends.first?.hasPrefix("a: ") == true)
    if change != .removed {
      #expect(flow.lines("log") == ["a", "a"])
      #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    }
  }

  @Test func `L6: values and environment variables that a step uses are a part of it`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo $v$FLOW_TEST_NAME > out", "outputs": ["out"]},
      "b": {"run": ["sh", "-c", "echo > ${w}"], "outputs": ["${w}"]}
      """, head: #""values": {"v": "1", "w": "x"},"#)
    func plan(_ name: String, _ arguments: String...) async throws -> String {
      var program = flow.program(["run", "f.json"] + arguments)
      program.environment["FLOW_TEST_NAME"] = name
      return try await program.run().text
    }
    _ = try await plan("1")
    #expect(try await plan("1", "--dry-run") == "nothing would run\n")
    #expect(try await plan("2", "--dry-run") == "a: its definition changed\n1 step is current\n")
    #expect(
      try await plan("1", "--dry-run", "--set", "v=2")
        == "a: its definition changed\n1 step is current\n")
    #expect(
      try await plan("1", "--dry-run", "--set", "w=y")
        == "b: its definition changed\n1 step is current\n")
  }

  @Test func `L6: a step runs if a step that it needs changed an output, and not otherwise`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "cat in > new; cmp -s new out || cp new out", "inputs": ["in"],
        "outputs": ["out"]},
      "group": {"needs": ["a"]},
      "b": {"run": "echo b >> log", "needs": ["group"], "outputs": ["log"]},
      "link": {"run": "true", "needs": ["a"]},
      "c": {"run": "echo c >> clog", "needs": ["link"], "outputs": ["clog"]}
      """)
    func run(_ contents: String, _ seconds: TimeInterval) async throws -> ProgramResult {
      let file = try flow.folder.write(contents, to: "in")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: seconds)], ofItemAtPath: file.path)
      return try await flow.run()
    }
    _ = try await run("1", 0)
    // The outputs of `a` are as before. `link` has none, so what it did cannot be compared.
    #expect(try await run("1", 10).ends.contains("b: up to date"))
    #expect(flow.lines("log") == ["b"])
    #expect(flow.lines("clog") == ["c", "c"])
    #expect(try await run("2", 20).ends.contains("b: succeeded"))
    #expect(flow.lines("log") == ["b", "b"])
  }

  @Test func `L6: a step without outputs runs in every new run`() async throws {
    let flow = try FlowFixture(#""a": {"run": "echo a >> log"}"#)
    for _ in 0..<2 { #expect(try await flow.run().status == 0) }
    #expect(flow.lines("log") == ["a", "a"])
    #expect(try await flow.run("--dry-run").text == "a: it has no outputs\n")
  }

  @Test func `L6: a change that an interrupted run made is not forgotten`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "cat in > out", "inputs": ["in"], "outputs": ["out"]},
      "stop": {"run": "test ! -e stop || kill -9 $PPID", "needs": ["a"]},
      "b": {"run": "cat out >> log", "needs": ["a", "stop"], "outputs": ["log"]}
      """)
    try flow.folder.write("1\n", to: "in")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("22\n", to: "in")
    try flow.folder.write("", to: "stop")
    _ = try await flow.run()
    try flow.remove("stop")
    #expect(try await flow.run("--fresh").status == 0)
    #expect(flow.lines("log") == ["1", "22"])
  }

  @Test func `L6: the children of a step are checked one by one`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"each": "in/*", "run": "mkdir -p out/in; cp $each out/$each; echo $each >> log",
        "inputs": ["${each}"], "outputs": ["out/${each}"]},
      "b": {"each": {"same-as": "a"}, "run": "cp out/$each out/$each.b; echo b$each >> log",
        "inputs": ["out/${each}"], "outputs": ["out/${each}.b"]}
      """, head: #""width": 1,"#)
    for name in ["1", "2"] { try flow.folder.write(name, to: "in/\(name)") }
    #expect(try await flow.run().status == 0)
    #expect(flow.lines("log").count == 4)
    try flow.folder.write("", to: "log")
    try flow.folder.write("three", to: "in/3")
    try flow.folder.write("new", to: "in/1")
    #expect(try await flow.run("--dry-run").text.contains("a: a[in/1]: in/1 is newer\n"))
    #expect(try await flow.run().status == 0)
    #expect(Set(flow.lines("log")) == ["in/1", "bin/1", "in/3", "bin/3"])
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
  }
}
