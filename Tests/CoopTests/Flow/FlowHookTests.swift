import Foundation
import SQLiteSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowHookTests {
  private static let failure =
    #"echo failure $v $E $FLOW_RUN $FLOW_STATUS \"$FLOW_FAILED\" >> on; "#
    + #"echo \"$FLOW_REASON\" >> on; sed 1d \"$FLOW_LOG\" >> on; echo oops; exit 3"#
  private static let head = #"""
    "values": {"v": "1"}, "env": {"E": "e${v}"}, "shell": ["bash", "-euo", "pipefail", "-c"],
    "on": {
      "success": ["sh", "-c", "echo success-${v} $$FLOW_STATUS >> on"],
      "failure": "\#(failure)",
      "interrupted": "echo interrupted $FLOW_STATUS [$FLOW_FAILED$FLOW_REASON$FLOW_LOG] >> on",
      "always": "echo always $FLOW_STATUS | cat >> on"
    },
    """#

  @Test func `L20: the commands of on run after all steps, for the state of the run`() async throws
  {
    let flow = try FlowFixture(
      """
      "a": {"run": "test -e ok", "outputs": []},
      "b": {"each": ["x y"], "run": "echo output; test -e ok"},
      "last": {"run": "touch last", "after": ["a", "b"]}
      """, head: Self.head)
    var printed = try await flow.run("--keep-going")
    #expect(printed.status == 1)
    #expect(
      flow.lines("on") == [
        "failure 1 e1 1 failed a", "b", "b[x y]", "a: exit status 1", "always failed",
      ])
    #expect(
      printed.error.hasSuffix(
        "'failure' of on failed: exit status 3; its last lines:\n  oops\n"), "\(printed.error)")
    #expect(flow.exists("last"))
    try flow.folder.write("", to: "ok")
    try flow.remove("on")
    printed = try await flow.run()
    #expect(printed.status == 0)
    #expect(flow.lines("on") == ["success-1 succeeded", "always succeeded"])
  }

  @Test func `L20: the log and the reason are of the first failed step that has a log`()
    async throws
  {
    let flow = try FlowFixture(
      #""b": {"each": ["x y"], "run": "echo output; exit 4"}"#, head: Self.head)
    #expect(try await flow.run().status == 1)
    #expect(
      flow.lines("on") == [
        "failure 1 e1 1 failed b", "b[x y]", "b[x y]: exit status 4", "output", "always failed",
      ])
  }

  @Test func `L20: the commands of on also run if all steps are up to date`() async throws {
    let flow = try FlowFixture(#""a": {"run": "touch a", "outputs": ["a"]}"#, head: Self.head)
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").status == 0)
    #expect(
      flow.lines("on") == [
        "success-1 succeeded", "always succeeded", "success-1 succeeded", "always succeeded",
      ])
  }

  @Test func `L20: after Ctrl-C, the commands of on run when the steps have ended`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"run": "trap 'echo ended >> on; exit 1' TERM; touch began; while :; do sleep 0.01; done"}
      """#, head: Self.head)
    let began = flow.folder.path + "/began"
    let printed = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: began) }
      kill(process, SIGINT)
    }
    #expect(printed.status == 130)
    #expect(
      flow.lines("on") == ["ended", "interrupted interrupted []", "always interrupted"])
  }

  @Test(arguments: [("success", SIGINT, Int32(130)), ("always", SIGTERM, 143)])
  func `L20: a signal ends a command of on, and a message says how the steps had ended`(
    occasion: String, signal: Int32, status: Int32
  ) async throws {
    let waiting =
      #"trap 'echo ended >> on; exit 1' TERM; touch began; while :; do sleep 0.01; done"#
    let later = #", "always": "echo always $FLOW_STATUS >> on""#
    let flow = try FlowFixture(
      #""a": {"run": "true"}"#,
      head: #""on": {"\#(occasion)": "\#(waiting)"\#(occasion == "always" ? "" : later)},"#)
    let printed = try await flow.program(["run", "f.json"]).run { process in
      try await eventually { flow.exists("began") }
      kill(process, signal)
    }
    #expect(printed.status == status)
    #expect(
      printed.error.hasSuffix(
        "coop flow: interrupted after all steps had ended: run 1 is stored as succeeded; "
          + "'\(occasion)' of on was interrupted\n"), "\(printed.error)")
    #expect(flow.lines("on") == (occasion == "always" ? ["ended"] : ["ended", "always succeeded"]))
    let shown = try await flow.flow("status", "f.json").text
    #expect(shown.contains(": succeeded\n"), "\(shown)")
  }

  @Test(arguments: ["INSERT ON flow_step", "INSERT ON flow_success", "UPDATE ON flow_run"])
  func `L20: the commands of on run after an error of the journal`(change: String) async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch began; while ! test -e go; do sleep 0.01; done"}"#, head: Self.head)
    let path = flow.folder.path
    let printed = try await flow.program(["run", "f.json"]).run { _ in
      try await eventually { FileManager.default.fileExists(atPath: path + "/began") }
      try SQLiteConnection.open(
        flow.journal, for: .writing, SQLiteConfiguration(access: .existing)
      ).execute(
        "CREATE TRIGGER full BEFORE \(change) BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
      try flow.folder.write("", to: "go")
    }
    #expect(printed.status == 1)
    #expect(printed.error.contains("disk is full"), "\(printed.error)")
    let lines = flow.lines("on")
    #expect(lines.first?.hasPrefix("failure 1 e1 1 failed") == true, "\(lines)")
    #expect(lines.contains { $0.contains("disk is full") }, "\(lines)")
    #expect(lines.last == "always failed", "\(lines)")
    // It has read the file of FLOW_LOG.
    #expect(printed.error.contains("its last lines:\n  oops\n"), "\(printed.error)")
  }

  @Test func `L20: the commands of on run if the journal cannot be opened`() async throws {
    let flow = try FlowFixture(#""a": {"run": "touch began"}"#, head: Self.head)
    let journal = flow.journal.dropFirst(flow.folder.path.utf8.count + 1)
    try flow.folder.write(String(repeating: "no journal ", count: 100), to: String(journal))
    let printed = try await flow.run()
    #expect(printed.status == 1 && !flow.exists("began"))
    #expect(flow.lines("on").first == "failure 1 e1 failed ", "\(flow.lines("on"))")
    #expect(flow.lines("on").last == "always failed")
    #expect(printed.error.contains("'failure' of on failed: exit status 3"), "\(printed.error)")
  }

  #if os(Linux)
    @Test func `L20: what a command of on has left is terminated before the next run`() async throws
    {
      let flow = try FlowFixture(
        #""a": {"run": "touch a", "outputs": ["a"]}"#,
        head: #""on": {"success": ["sh", "hook"]},"#)
      try flow.folder.write(
        """
        test -e left && exit 0
        setsid sh -c 'echo $$ > new; mv new left; exec sleep 3600' &
        while ! test -e left; do sleep 0.01; done
        """, to: "hook")
      #expect(try await flow.run().status == 0)
      let left = try #require(flow.lines("left").first.flatMap { Int32($0) })
      defer { kill(left, SIGKILL) }
      #expect(kill(left, 0) == 0)
      let printed = try await flow.run()
      #expect(printed.status == 0)
      #expect(
        printed.error.contains("terminating 1 command of an earlier run\n"), "\(printed.error)")
      let state = try? String(contentsOfFile: "/proc/\(left)/stat", encoding: .utf8)
      #expect(state?.contains(") S") != true)
    }
  #endif
}
