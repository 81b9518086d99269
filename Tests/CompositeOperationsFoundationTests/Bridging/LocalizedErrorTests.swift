import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct LocalizedErrorTests {
  @Test func `localizedDescription equals the description of the error`() async throws {
    let missing = FileReadOperation(URL(fileURLWithPath: "/no/such/file"))
    let failures: [any Error] = [
      try #require(await missing.run().error),
      try #require(await ParallelOperation([missing, missing]).run().error),
      try #require(await missing.retrying(attempts: 1).run().error),
      try #require(await missing.then { _ in missing }.run().error),
      try #require(await ProcessOperation("no-such-program").run().error),
      try #require(await ProcessOperation("false").run().error),
      try #require(
        await ProcessOperation("yes").sendingOutput(to: .whole(limit: 1)).run().error),
    ]
    for error in failures { #expect(error.localizedDescription == "\(error)") }
  }

  @Test func `every public error conforms to LocalizedError`() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let sources = tests.appendingPathComponent("../../../Sources").standardizedFileURL
    var declared: Set<Substring> = []
    var conforming: Set<Substring> = []
    let modules = [
      "CompositeOperations", "CompositeOperationsFoundation", "HTTPOperations", "OperationTracing",
    ]
    for module in modules {
      let files = try #require(
        FileManager.default.enumerator(
          at: sources.appendingPathComponent(module), includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        declared.formUnion(text.matches(of: /(?m)^public (?:struct|enum) (\w+Error)\b/).map(\.1))
        conforming.formUnion(text.matches(of: /extension (\w+): LocalizedError/).map(\.1))
      }
    }
    #expect(declared.subtracting(conforming) == [])
    #expect(declared.count > 20)
  }
}
