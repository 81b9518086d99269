import Testing

/// `Documentation/Semantics.md` contains the rules and the names of the tests that verify them.
@Suite struct SemanticsTests {
  private static let rules = [
    ("O", 9), ("P", 9), ("S", 8), ("G", 7), ("W", 10), ("H", 4), ("T", 5), ("R", 9), ("E", 7),
    ("Q", 6), ("V", 15), ("C", 5), ("B", 4), ("F", 3), ("N", 23), ("X", 9), ("D", 17), ("M", 15),
    ("Y", 6), ("J", 26), ("K", 11), ("L", 22), ("A", 15),
  ].flatMap { group, count in (1...count).map { "\(group)\($0)" } }

  private static func page() throws -> String {
    try #require(try Checkout.text(of: "Documentation/Semantics.md"))
  }

  @Test func `the page has every rule once and in order, each with tests`() throws {
    let sections = try Self.page().split(separator: "\n## ").flatMap { chapter in
      chapter.matches(of: /(?m)^\*\*(?<rule>[A-Z]\d+)\*\* (?<text>[\s\S]+?)(?=^\*\*|\z)/)
    }
    #expect(sections.map { String($0.rule) } == Self.rules)
    for section in sections {
      #expect(!TestName.all(namedIn: section.text).isEmpty, "\(section.rule) has no test")
    }
  }

  @Test func `every test that the page names exists`() throws {
    let existing = Set(
      try Checkout.files(below: "Tests", suffix: ".swift").flatMap { file in
        TestName.all(declaredIn: try Checkout.text(of: file) ?? "")
      })
    #expect(existing.count > 100)
    let missing = TestName.all(namedIn: try Self.page()).filter { !existing.contains($0) }
    #expect(missing == [], "the page is stale")
  }

  @Test func `C2: unstructured tasks are created in one file`() throws {
    // The test kit and the tests may create unstructured tasks.
    let modules = [
      "CloudKitOperations", "CompositeOperations", "CompositeOperationsFoundation",
      "HTTPOperations",
      "RecordOperations",
    ]
    let files = try modules.flatMap { module in
      try Checkout.files(below: "Sources/\(module)", suffix: ".swift")
    }
    let makers = try files.filter { file in
      let code = try Checkout.text(of: file)?.replacing(/(?m)\/\/.*$/, with: "") ?? ""
      return code.contains(/\bTask(\.detached|\.immediate)? ?[({]/)
    }
    #expect(makers == ["Sources/CompositeOperations/Concurrency/UnstructuredTasks.swift"])
  }
}

/// A test by its suite and its name.
private struct TestName: Hashable, CustomStringConvertible {
  let suite: Substring
  let name: String

  var description: String { "\(suite)/\"\(name)\"" }

  /// Returns the tests that a document names in the form `Suite/"name"`.
  static func all(namedIn document: some StringProtocol) -> [TestName] {
    Substring(document).matches(of: /`(\w+)\/"([^"]+)"`/).map { match in
      TestName(suite: match.1, name: String(match.2).replacing("\n", with: " "))
    }
  }

  /// Returns the tests of a file. A test belongs to the suite that was declared last before it.
  static func all(declaredIn source: String) -> [TestName] {
    var suite: Substring = ""
    return source.matches(of: /(?:struct|extension) (\w+)|func `([^`]+)`\(/).compactMap { match in
      if let name = match.2 { return TestName(suite: suite, name: String(name)) }
      if let type = match.1, type.hasSuffix("Tests") { suite = type }
      return nil
    }
  }
}
