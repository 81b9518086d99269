import Testing

@Suite struct PairTests {
  private static let page = "Documentation/CompositeOperations.docc/CombiningModifiers.md"

  /// The table of all pairs, in Markdown: the inner modifier on the left, the outer one on top.
  private static func table(on base: PairScene.Base) -> [String] {
    let names = PairModifier.allCases.map { "`\($0.rawValue)`" }
    let heading = "| first, then → | \(names.joined(separator: " | ")) |"
    let rule = "|" + String(repeating: "---|", count: names.count + 1)
    return [heading, rule]
      + PairModifier.allCases.map { inner in
        let cells = PairModifier.allCases.map { PairScene.tale(of: inner, $0, on: base) }
        return "| `\(inner.rawValue)` | \(cells.joined(separator: " | ")) |"
      }
  }

  @Test(arguments: PairScene.Base.allCases)
  func `the page shows the measured outcome of every pair of modifiers`(base: PairScene.Base) throws
  {
    let table = Self.table(on: base)
    let lines = try #require(try Checkout.text(of: Self.page)).split(separator: "\n")
    let missing = table.filter { !lines.contains(Substring($0)) }
    #expect(missing == [], "The table is:\n\(table.joined(separator: "\n"))")
  }

  @Test func `the page shows the modifiers that are measured`() throws {
    let page = try #require(try Checkout.text(of: Self.page))
    for modifier in PairModifier.allCases {
      #expect(page.contains("`\(modifier.code)`"), "\(modifier.code)")
    }
  }
}
