import SystemSupport
import Testing

@Suite struct VersionTests {
  @Test func `the newest section of the changelog is about the version of the package`() throws {
    let changelog = try #require(try Checkout.text(of: "CHANGELOG.md"))
    let sections = changelog.split(separator: "\n").filter { $0.hasPrefix("## ") }
    let newest = try #require(sections.first).split(separator: " ")
    #expect(newest[1] == PackageVersion.current)
  }
}
