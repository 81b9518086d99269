/// A block of Swift code in a document.
struct Example: Sendable {
  let document: String
  /// The line number of its first line of code in the document, from 1.
  let line: Int
  let code: [String]

  /// The error of a document with a block that has no end or no clear language.
  struct UnclearBlock: Error, CustomStringConvertible {
    let description: String
  }

  /// Returns the Swift blocks of a document, or of the doc comments in a Swift file.
  static func all(in text: String, of document: String) throws -> [Example] {
    var examples: [Example] = []
    var open: (language: String, indentation: Int, line: Int, code: [String])?
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in zip(1..., lines) {
      guard let line = document.hasSuffix(".swift") ? line.documentation : line else {
        if let open { throw unclear(document, open.line, "is not closed") }
        continue
      }
      let text = line.drop { $0 == " " }
      if var block = open {
        if text == "```" {
          if block.language == "swift" {
            examples.append(Example(document: document, line: block.line, code: block.code))
          }
          open = nil
        } else {
          block.code.append(String(line.dropFirst(min(block.indentation, line.count - text.count))))
          open = block
        }
      } else if text.hasPrefix("```") {
        let language = String(text.dropFirst(3))
        if language.isEmpty || language != "swift" && language.lowercased().hasPrefix("swift") {
          throw unclear(document, number, "must name its language: swift, text, console …")
        }
        open = (language, line.count - text.count, number + 1, [])
      }
    }
    if let open { throw unclear(document, open.line, "is not closed") }
    return examples
  }

  private static func unclear(_ document: String, _ line: Int, _ why: String) -> UnclearBlock {
    UnclearBlock(description: "\(document):\(line): the code block \(why)")
  }
}

extension Example {
  /// Returns a file with the code in a function, and with imports and extensions outside it. The
  /// compiler's diagnostics of the file refer to the document.
  func source(named name: String) -> String {
    var outside: [String] = []
    var inside = ["func \(name)() async throws {", location(of: line)]
    var isInExtension = false
    for (number, text) in zip(line..., code) {
      if text.hasPrefix("extension ") {
        isInExtension = true
        outside.append(location(of: number))
      }
      if text.hasPrefix("import ") || isInExtension {
        outside.append(text)
        inside.append("")
      } else {
        inside.append(text)
      }
      if text.hasPrefix("}") || text.hasPrefix("extension ") && text.hasSuffix("}") {
        isInExtension = false
      }
    }
    let imports = [
      "CompositeOperations", "CompositeOperationsTestKit", "Foundation", "OperationTracing",
      "Testing",
    ]
    return (imports.map { "import \($0)" } + outside + inside + ["}", ""]).joined(separator: "\n")
  }

  private func location(of line: Int) -> String {
    "#sourceLocation(file: \"\(document)\", line: \(line))"
  }
}

extension Substring {
  /// The text of a line of a doc comment; nil for other lines.
  fileprivate var documentation: Substring? {
    let text = drop { $0 == " " }
    guard text.hasPrefix("///") else { return nil }
    let comment = text.dropFirst(3)
    return comment.hasPrefix(" ") ? comment.dropFirst() : comment
  }
}
