import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowLogTests {
  @Test func `L4: the output of a step is in its log, for the last 3 runs`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo out$n; echo error$n >&2"}
      """, head: #""values": {"n": "1"},"#)
    for number in 1...4 { #expect(try await flow.run("--set", "n=\(number)").status == 0) }
    #expect(flow.text(flow.log("a")) == "out4\nerror4\n")
    #expect(flow.text(flow.log("a") + ".1") == "out3\nerror3\n")
    #expect(flow.text(flow.log("a") + ".2") == "out2\nerror2\n")
    #expect(!flow.exists(flow.log("a") + ".3"))
    #expect(try await flow.flow("log", "f.json", "a").text == "out4\nerror4\n")
  }

  @Test func `L4: a failed step shows its status, attempts and last 20 lines`() async throws {
    let flow = try FlowFixture(
      """
      "upload": {"run": "for i in $(seq 30); do echo line $i; done; exit 22", "retries": 1,
        "backoff": "1ms"}
      """)
    let printed = try await flow.run()
    let lines = printed.error.split(separator: "\n").map(String.init)
    let head =
      /coop flow: step 'upload' failed: exit status 22 after 2 attempts \([0-9. a-z]+\); its last lines:/
    #expect(try head.wholeMatch(in: lines[0]) != nil, "\(printed.error)")
    #expect(lines.dropFirst().prefix(20).map(\.self) == (11...30).map { "  line \($0)" })
    #expect(lines.dropFirst(21).first?.hasPrefix("coop flow: 'f': 1 failed (") == true)
  }

  @Test func `L4: a step without output shows no lines`() async throws {
    let flow = try FlowFixture(#""a": {"run": "exit 2"}"#)
    let printed = try await flow.run()
    let line = /coop flow: step 'a' failed: exit status 2 after 1 attempt \([0-9. a-z]+\)\n.*\n/
    #expect(try line.wholeMatch(in: printed.error) != nil, "\(printed.error)")
  }

  @Test func `L4: the logs of children do not leave the folder of logs`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"each": ["../../x", "b c"], "run": "printf %s \"$each\""}
      """#)
    #expect(try await flow.run().status == 0)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: flow.folder.path + "/.flow/f/logs")
    #expect(Set(names) == ["a[..%2F..%2Fx].log", "a[b%20c].log"])
    #expect(try await flow.flow("log", "f.json", "a[../../x]").text == "../../x")
  }

  @Test func `flow log reports a step that is unknown or has not run`() async throws {
    let flow = try FlowFixture(#""build": {"run": "true"}"#)
    let unknown = try await flow.flow("log", "f.json", "biuld")
    #expect(unknown.status == 1)
    #expect(unknown.error == "f.json: unknown step 'biuld'; did you mean 'build'?\n")
    let missing = try await flow.flow("log", "f.json", "build")
    #expect(missing.error == "coop flow: 'build' has no log; it has not run yet\n")
  }
}
