import FlowFiles
import Testing

@Suite(.needsYAML)
struct HostileFileTests {
  @Test(
    arguments: HostileFile.syntax + HostileFile.documents + HostileFile.nodes + HostileFile.keys)
  func `a file with a wrong structure has exactly these problems`(file: HostileFile) {
    #expect(problems(of: file.text) == file.problems)
  }

  @Test(arguments: HostileFile.names + HostileFile.values + HostileFile.commands)
  func `a file with wrong texts has exactly these problems`(file: HostileFile) {
    #expect(problems(of: file.text) == file.problems)
  }

  @Test(
    arguments: HostileFile.numbers + HostileFile.references + HostileFile.outputs
      + HostileFile.inputs + HostileFile.several + HostileFile.columns)
  func `a file with wrong numbers or steps has exactly these problems`(file: HostileFile) {
    #expect(problems(of: file.text) == file.problems)
  }

  @Test func `each of at least 100 hostile files has a problem`() {
    #expect(HostileFile.all.count >= 100)
    #expect(HostileFile.all.allSatisfy { !$0.problems.isEmpty })
  }
}
