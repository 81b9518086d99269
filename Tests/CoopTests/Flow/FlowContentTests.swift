import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowContentTests {
  private static let head = #""compare": "content","#
  private static let step = """
    "a": {"run": "cat in/1* > out; echo a >> log", "inputs": ["in"], "outputs": ["out"]}
    """

  private func fixture(head: String = Self.head) async throws -> FlowFixture {
    let flow = try FlowFixture(Self.step, head: head)
    try flow.folder.write("1", to: "in/1.txt")
    try flow.shell("ln -s /missing in/link")
    #expect(try await flow.run().status == 0)
    #expect(flow.lines("log") == ["a"])
    return flow
  }

  private static let changes: [(command: String, plan: String)] = [
    ("touch -d 1971-01-01 in/1.txt out", "nothing would run"),
    // As git does it: another file with the same name.
    ("for f in in/* out; do cp -P $f $f.new; mv $f.new $f; done", "nothing would run"),
    ("printf 2 > in/1.txt; touch -d 2100-01-01 in/1.txt", "a: in/1.txt is newer"),
    ("printf 12 > in/1.txt; touch -d 1971-01-01 in/1.txt", "a: in/1.txt has changed"),
    ("ln -sf /nothing in/link", "a: in/link is newer"),
    ("touch in/2.txt", "a: in/2.txt is new"),
    ("rm in/1.txt", "a: in/1.txt was removed"),
    ("rm out", "a: its output out is missing"),
    ("printf 2 > out; touch -d 2100-01-01 out", "a: its output out is newer"),
  ]

  @Test(arguments: changes)
  func `L21: with compare content, a step runs only if names or contents have changed`(
    command: String, plan: String
  ) async throws {
    let flow = try await fixture()
    try flow.shell(command)
    #expect(try await flow.run("--dry-run").text == plan + "\n")
    let printed = try await flow.run()
    if command == "rm in/1.txt" { return }
    #expect(printed.status == 0, "\(printed.error)")
    #expect(flow.lines("log").count == (plan == "nothing would run" ? 1 : 2))
  }

  @Test func `L21: a step that writes the same contents again makes nothing new`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "grep -v x in > out", "inputs": ["in"], "outputs": ["out"]},
      "b": {"run": "echo b >> blog", "needs": ["a"], "outputs": ["blog"]},
      "c": {"run": "echo c >> clog", "needs": ["a"], "inputs": ["out"], "outputs": ["clog"]}
      """, head: Self.head)
    for (contents, expected) in [("1\n", 1), ("1\nx\n", 1), ("2\n", 2), ("2\nx\n", 2)] {
      try flow.folder.write(contents, to: "in")
      let printed = try await flow.run()
      #expect(printed.ends.contains("a: succeeded"))
      #expect(flow.lines("blog").count == expected, "\(contents)")
      #expect(flow.lines("clog").count == expected, "\(contents)")
    }
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
  }

  @Test func `L21: a file with an unchanged stamp is not read again`() async throws {
    let flow = try FlowFixture(Self.step, head: Self.head)
    try flow.folder.write("1", to: "in/1.txt")
    _ = try await flow.run()
    func changeSecretly(_ text: String) throws {
      try flow.shell("touch -r in/1.txt time; printf \(text) > in/1.txt; touch -r time in/1.txt")
    }
    try changeSecretly("2")
    #expect(try await !flow.run().ends.contains("a: succeeded"))
    try changeSecretly("1")
    // Its new stamp is stored after its contents were compared.
    try flow.shell("touch -d 2100-01-01 in/1.txt")
    #expect(try await !flow.run().ends.contains("a: succeeded"))
    try changeSecretly("2")
    #expect(try await !flow.run().ends.contains("a: succeeded"))
    #expect(flow.lines("log") == ["a"])
    try flow.shell("touch -d 2101-01-01 in/1.txt")
    #expect(try await flow.run().ends.contains("a: succeeded"))
  }

  @Test func `L21: a step that is checked during the run stores the new stamps`() async throws {
    let flow = try FlowFixture(
      """
      "make": {"run": "cat source > made", "inputs": ["source"], "outputs": ["made"]},
      "a": {"run": "echo a >> log", "inputs": ["in/1.txt"], "outputs": ["log"], "needs": ["make"]}
      """, head: Self.head)
    try flow.folder.write("1", to: "in/1.txt")
    try flow.folder.write("1", to: "source")
    _ = try await flow.run()
    try flow.shell("touch -d 2100-01-01 in/1.txt; rm made")
    #expect(try await flow.run().ends == ["make: succeeded", "a: up to date"])
    try flow.shell("touch -r in/1.txt time; printf 2 > in/1.txt; touch -r time in/1.txt")
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
  }

  @Test func `L21: an input that changes and changes back while its step runs counts as changed`()
    async throws
  {
    let flow = try FlowFixture(
      #""s": {"run": "echo bbb > in; cat in > out; echo aaa > in", "inputs": ["in"], "#
        + #""outputs": ["out"]}"#, head: #""compare": "content","#)
    try flow.folder.write("aaa\n", to: "in")
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text.hasPrefix("s: in is newer"))
  }

  @Test func `L21: compare can change without a run, and nothing is believed that was not read`()
    async throws
  {
    let steps = Self.step
    let flow = try FlowFixture(steps)
    try flow.folder.write("1", to: "in/1.txt")
    func run(comparing: String?, after command: String = ":") async throws -> Bool {
      try flow.write(steps, head: comparing.map { #""compare": "\#($0)","# } ?? "")
      try flow.shell(command)
      return try await flow.run().ends.contains("a: succeeded")
    }
    #expect(try await run(comparing: nil))
    // The contents at that time are unknown.
    #expect(try await run(comparing: "content", after: "touch -d 2100-01-01 in/1.txt"))
    #expect(try await !run(comparing: "stamp"))
    #expect(try await run(comparing: "stamp", after: "touch -d 2100-01-02 in/1.txt"))
    // With the same stamps, nothing runs, and the contents are read for later.
    #expect(try await !run(comparing: "content"))
    #expect(try await !run(comparing: "content", after: "touch -d 2100-01-03 in/1.txt out"))
    #expect(try await !run(comparing: "stamp"))
    #expect(try await run(comparing: "stamp", after: "touch -d 2100-01-04 in/1.txt"))
    #expect(flow.lines("log").count == 4)
  }

  @Test func `L21: a file that cannot be read is an error that names it`() async throws {
    #if os(Linux)
      // Also root cannot read it.
      let flow = try FlowFixture(
        #""a": {"run": "touch out", "inputs": ["memory"], "outputs": ["out"]}"#, head: Self.head)
      try flow.shell("ln -s /proc/self/mem memory")
      let printed = try await flow.run()
      #expect(printed.status == 1)
      #expect(printed.ends == ["a: failed, 'memory' cannot be read: Input/output error"])
      #expect(!flow.exists("out"))
    #endif
  }

  @Test func `L21: files without contents are compared by their stamps`() async throws {
    let flow = try FlowFixture(
      #"""
      "a": {"run": "touch out", "inputs": ["pipe", "folder"], "outputs": ["out"]},
      "each": {"each": ["1", "2"], "run": "touch $each.o", "inputs": ["in/*"], "outputs": ["${each}.o"]}
      """#, head: Self.head)
    try flow.shell("mkfifo pipe; mkdir -p folder/f in; ln -s f folder/link; echo > in/1")
    #expect(try await flow.run().status == 0)
    try flow.shell("touch -d 2100-01-01 in/1")
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try flow.shell("touch -d 2100-01-01 pipe")
    #expect(try await flow.run("--dry-run").text == "a: pipe is newer\n1 step is current\n")
  }
}

extension FlowFixture {
  /// Runs a shell text in the folder.
  fileprivate func shell(_ text: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-euc", text]
    process.currentDirectoryURL = folder.url
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(text)")
  }
}
