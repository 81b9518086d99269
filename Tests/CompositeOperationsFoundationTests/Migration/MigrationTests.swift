import CompositeOperations
import Foundation
import Testing

/// The four steps of the migration article.
@Suite struct MigrationTests {
  private func page(
    _ album: String, by publish: (String, @escaping @Sendable (String?) -> Void) -> Void
  ) async -> String? {
    await withCheckedContinuation { continuation in
      publish(album) { continuation.resume(returning: $0) }
    }
  }

  @Test func `every step of the migration has the same result`() async throws {
    let expected = "small sea-1, small sea-2"
    #expect(await page("sea") { Step1.publish($0, completion: $1) } == expected)
    #expect(await page("sea") { Step2.publish($0, completion: $1) } == expected)
    #expect(await page("sea") { Step3.publish($0, completion: $1) } == expected)
    #expect(try await Step4.publish("sea") == expected)
  }

  @Test func `every step reports a missing album`() async {
    #expect(await page("none") { Step1.publish($0, completion: $1) } == nil)
    #expect(await page("none") { Step2.publish($0, completion: $1) } == nil)
    #expect(await page("none") { Step3.publish($0, completion: $1) } == nil)
    await #expect(throws: (any Error).self) { try await Step4.publish("none") }
  }

  @Test(arguments: 1...4) func `the article contains the code of the tested steps`(step: Int) throws
  {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../..").standardized
    let page = try String(
      contentsOf: root.appendingPathComponent(
        "Documentation/CompositeOperations.docc/MigratingFromOperationQueue.md"), encoding: .utf8)
    let file = try String(
      contentsOf: root.appendingPathComponent(
        "Tests/CompositeOperationsFoundationTests/Migration/Step\(step).swift"), encoding: .utf8)
    let beginning = try #require(file.range(of: "enum Step\(step) {\n"))
    let lines = file[beginning.upperBound...].split(
      separator: "\n", omittingEmptySubsequences: false)
    let text = lines.dropLast(2).map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : String($0) }
      .joined(separator: "\n").replacing("static ", with: "")
    #expect(page.contains(text))
  }
}
