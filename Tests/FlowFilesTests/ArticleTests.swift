import FlowFiles
import Foundation
import Testing

/// The article "Flow files".
struct ArticleTests {
  private func article() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../..").standardizedFileURL
    return try String(
      contentsOf: root.appendingPathComponent(
        "Documentation/CompositeOperations.docc/FlowFiles.md"), encoding: .utf8)
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
