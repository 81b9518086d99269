import Testing

@Suite struct ExampleTests {
  private static let prelude = Checkout.path(of: "Documentation/Examples/Prelude.swift")

  @Test func `every example in the documents and doc comments compiles`() async throws {
    let documents = try ["README.md"] + Checkout.files(below: "Documentation", suffix: ".md")
    let sources = try Checkout.files(below: "Sources", suffix: ".swift")
    var examples: [Example] = []
    for files in [documents, sources] {
      let found = try files.flatMap { file in
        try Checkout.text(of: file).map { try Example.all(in: $0, of: file) } ?? []
      }
      #expect(found.count > 20, "\(files.count) files have only \(found.count) examples: \(files)")
      examples += found
    }
    let compiler = try await ExampleCompiler()
    // The package contains this module only where libpq is installed.
    if !compiler.hasModule("PostgresOperations") {
      examples.removeAll { $0.code.contains("import PostgresOperations") }
    }
    for problem in try await compiler.problems(of: examples, prelude: Self.prelude) {
      Issue.record("\(problem)")
    }
  }

  @Test func `an example that does not compile is reported with its document and line`()
    async throws
  {
    let text = """
      # A document

      1. A list:

         ```swift
         import Foundation
         let url: URL = "a text"

         extension Page: CancellationRepresenting {}
         ```
      """
    let examples = try Example.all(in: text, of: "Article.md")
    let problems = try await ExampleCompiler().problems(of: examples, prelude: Self.prelude)
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.contains { $0.hasPrefix("Article.md:7:16: error: ") }, "\(problems)")
    #expect(problems.contains { $0.hasPrefix("Article.md:9:1: error: ") }, "\(problems)")
  }

  @Test func `a block without an end or a clear language is an error`() {
    for text in ["```\nlet a = 1\n```", "```swift ignored\n```", "```swift\nlet a = 1"] {
      #expect(throws: Example.UnclearBlock.self) { try Example.all(in: text, of: "Article.md") }
    }
  }
}
