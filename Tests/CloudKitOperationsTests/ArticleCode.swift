import Foundation

/// The Swift code of an article that uses CloudKit.
struct ArticleCode {
  /// The blocks that import `CloudKitOperations`, as lines without the imports.
  let blocks: [[Substring]]

  /// - Parameter article: The name of its file, without the suffix.
  init(of article: String) throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent(
      "Documentation/CompositeOperations.docc/\(article).md")
    let text = try String(contentsOf: file, encoding: .utf8)
    blocks = text.matches(of: /(?m)^```swift\n([\s\S]*?)^```$/).map(\.1)
      .filter { $0.contains("import CloudKitOperations\n") }
      .map { block in
        var lines = block.split(separator: "\n", omittingEmptySubsequences: false)
          .filter { !$0.hasPrefix("import ") }[...]
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return Array(lines)
      }
  }

  /// Returns the blocks that a source file does not have line by line, with any indentation of the
  /// whole block.
  func blocks(missingIn file: String) throws -> [String] {
    let source = try String(contentsOfFile: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    return blocks.filter { block in
      !source.indices.contains { Self.hasBlock(block, at: source[$0...]) }
    }.map { $0.joined(separator: "\n") }
  }

  private static func hasBlock(_ block: [Substring], at source: ArraySlice<Substring>) -> Bool {
    guard source.count >= block.count, let first = source.first else { return false }
    let indentation = first.prefix { $0 == " " }
    return zip(block, source).allSatisfy { $1 == ($0.isEmpty ? "" : indentation + $0) }
  }
}
