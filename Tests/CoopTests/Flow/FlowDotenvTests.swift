import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowDotenvTests {
  @Test func `L17: commands have the variables of dotenv, and env precedes them`() async throws {
    let flow = try FlowFixture(
      #"""
      "text": {"run": "echo $A $B $v $FLOW_TEST_NAME"},
      "list": {"run": ["sh", "-c", "echo $$A $$B"], "env": {"B": "step"}}
      """#, head: #""dotenv": [".env", "no?"], "values": {"v": "1", "w": "${v}2"},"#)
    try flow.folder.write("A=file\nB=file\nFLOW_TEST_NAME=file\n", to: ".env")
    var program = flow.program(["run", "f.json"])
    program.environment["FLOW_TEST_NAME"] = "process"
    #expect(try await program.run().status == 0)
    #expect(flow.output("text") == "file file 1 process\n")
    #expect(flow.output("list") == "file step\n")
    try flow.folder.write("A='", to: ".env")
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(printed.error == ".env:1:3: the value of 'A' has no closing quote\n")
  }

  @Test func `L17: a step runs again if a variable or a value that it uses changed in its file`()
    async throws
  {
    let flow = try FlowFixture(
      #"""
      "a": {"run": "echo $A > a", "outputs": ["a"]}, "b": {"run": "echo $B > b", "outputs": ["b"]},
      "w": {"run": "echo $w > w", "outputs": ["w"]}
      """#, head: #""dotenv": ".env", "values": {"v": "1", "w": "${v}2"},"#)
    try flow.folder.write("A=1\nB=1\n", to: ".env")
    #expect(try await flow.run().status == 0)
    try flow.folder.write("A=2\nB=1\nC=1\n", to: ".env")
    #expect(
      try await flow.run("--dry-run").text == "a: its definition changed\n2 steps are current\n")
    #expect(try await flow.run().status == 0)
    #expect(flow.text("a") == "2\n")
    #expect(
      try await flow.run("--dry-run", "--set", "v=2").text
        == "w: its definition changed\n2 steps are current\n")
  }
}
