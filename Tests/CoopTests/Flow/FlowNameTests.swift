import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FlowNameTests {
  private static let composed = "caf\u{e9}.csv"
  private static let decomposed = "cafe\u{301}.csv"

  /// Runs a text of the shell in the folder of a flow.
  private func shell(_ text: String, in flow: FlowFixture) async throws {
    var program = Program(
      executable: URL(fileURLWithPath: "/bin/sh"), arguments: ["-eu", "-c", text])
    program.folder = flow.folder.url
    #expect(try await program.run().status == 0)
  }

  @Test func `L14: names in NFC and in NFD are two children of a pattern and of lines`()
    async throws
  {
    let flow = try FlowFixture(
      """
      "files": {"each": "d/*.csv", "run": "cat \\"$each\\" >> all"},
      "names": {"run": "printf '\(Self.composed)\\\\n\(Self.decomposed)\\\\n'"},
      "lines": {"each": {"lines-of": "names"}, "run": "echo \\"$each\\" >> lines"},
      "same": {"each": {"same-as": "lines"}, "run": "echo \\"$each\\" >> same"}
      """)
    for name in [Self.composed, Self.decomposed, "ok.csv"] {
      try flow.folder.write("\(name)\n", to: "d/\(name)")
    }
    let printed = try await flow.run()
    #expect(printed.status == 0, "\(printed.error)")
    func bytes(_ names: [String]) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }
    #expect(bytes(flow.lines("all")) == bytes([Self.composed, Self.decomposed, "ok.csv"]))
    #expect(bytes(flow.lines("lines")) == bytes([Self.composed, Self.decomposed]))
    #expect(bytes(flow.lines("same")) == bytes([Self.composed, Self.decomposed]))
    #expect(printed.ends.count == 11)
  }

  @Test func `L14: a name that is not UTF-8 is an error before a step begins`() async throws {
    let flow = try FlowFixture(
      """
      "first": {"run": "touch began"}, "a": {"each": "d/*.csv", "run": "true"},
      "b": {"inputs": ["*/l*"], "run": "true", "outputs": ["o"]}
      """)
    try await shell("mkdir d; touch \"d/$(printf 'lat\\351').csv\" d/ok.csv", in: flow)
    for arguments in [[], ["--dry-run"]] {
      let printed = try await flow.program(["run", "f.json"] + arguments).run()
      #expect(printed.status == 1)
      #expect(
        printed.error
          == "coop flow: step 'a': the name $'d/lat\\xe9.csv' is not UTF-8; rename the file\n")
    }
    #expect(!flow.exists("began"))
    // A name that no pattern matches is no problem, and neither is a file in a folder.
    try flow.write(#""a": {"each": "d/o*", "run": "true", "inputs": ["d"]}"#)
    #expect(try await flow.run().ends == ["a[d/ok.csv]: succeeded", "a: succeeded"])
  }

  @Test func `L14: a line that is not UTF-8 fails the step that wrote it`() async throws {
    let flow = try FlowFixture(
      """
      "names": {"run": "printf 'ok\\\\nlat\\\\351\\\\n'"},
      "lines": {"each": {"lines-of": "names"}, "run": "touch $each"}
      """)
    let printed = try await flow.run()
    #expect(printed.status == 1)
    #expect(
      printed.ends == ["names: failed, it wrote a line that is not UTF-8: $'lat\\xe9'"])
    #expect(!flow.exists("ok"))
  }

  @Test(arguments: [
    (composed, decomposed), ("a\nb", "a\\nb"), ("a b", "a\nb"), ("a\\0ab", "a\nb"),
  ])
  func `L14: a file with another name is another input`(old: String, new: String) async throws {
    let flow = try FlowFixture(
      #""a": {"run": "touch out", "inputs": ["d/*"], "outputs": ["out"]}"#)
    try flow.folder.write("1", to: "d/\(old)")
    #expect(try await flow.run().status == 0)
    #expect(try await flow.run("--dry-run").text == "nothing would run\n")
    try FileManager.default.moveItem(
      atPath: "\(flow.folder.path)/d/\(old)", toPath: "\(flow.folder.path)/d/\(new)")
    #expect(try await flow.run("--dry-run").text.hasSuffix("is new\n"))
  }
}
