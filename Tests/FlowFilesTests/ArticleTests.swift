import FlowFiles
import Foundation
import Testing

/// The article "Flow files".
struct ArticleTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  private func article() throws -> String {
    try String(
      contentsOf: Self.root.appendingPathComponent(
        "Documentation/CompositeOperations.docc/RunningFlowFiles.md"), encoding: .utf8)
  }

  @Test(.needsYAML, arguments: [".ci/check.yaml", "Documentation/Examples/count.yaml"])
  func `the flow files of the repository are valid`(path: String) throws {
    let file = try FlowFile.read(contentsOf: Self.root.appendingPathComponent(path).path)
    #expect(try file.setting([:]).steps.count >= 3)
  }

  @Test func `the article has the table of the keys`() throws {
    #expect(try article().contains("\n\n\(FlowSchema.markdown)\n\n"))
  }

  @Test func `the article has the examples that other tests read`() throws {
    let article = try article()
    for (name, text) in FlowExamples.all {
      #expect(article.contains("```yaml\n\(text)\n```\n"), "\(name)")
    }
  }

  @Test(.needsYAML) func `the files in the article are valid`() throws {
    let blocks = try article().components(separatedBy: "\n```yaml\n").dropFirst()
    #expect(blocks.count == FlowExamples.all.count + 1)
    for block in blocks {
      let file = block.components(separatedBy: "\n```\n")[0]
      #expect(throws: Never.self, "\(file)") { try FlowFile(yaml: file) }
    }
  }
}
