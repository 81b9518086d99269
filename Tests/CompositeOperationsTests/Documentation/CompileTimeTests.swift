import Foundation
import Testing

/// The path of the file to which the seconds and the name of each program are appended.
private let compileTimes = ProcessInfo.processInfo.environment["COMPOSITE_COMPILE_TIMES"]

/// The seconds that the compiler takes for a file in debug, each measured alone.
///
/// `.ci/compile-times` runs this suite and prints the seconds. No time is a failure here; the tests
/// of ``ChainCompilationTests`` limit the work of the compiler, which is the same on every machine.
@Suite(
  .serialized, .enabled(if: compileTimes != nil, "Only .ci/compile-times measures them."))
struct CompileTimeTests {
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    let source: String

    var testDescription: String { name }
  }

  @Test(arguments: [
    Program(name: "nothing but the import", source: "import CompositeOperations"),
    Program(
      name: "a graph of 400 nodes, in a function",
      source: ChainCompilationTests.graph(nodeCount: 400, isFunction: true)
    ),
    Program(
      name: "a graph of 400 nodes, in a closure",
      source: ChainCompilationTests.graph(nodeCount: 400, isFunction: false)
    ),
    Program(
      name: "lists that are nested 9 deep", source: ChainCompilationTests.nestedLists(depth: 9)),
    Program(
      name: "a chain of 12 modifiers",
      source: ChainCompilationTests.source([Array(ChainCompilationTests.modifiers.prefix(12))])
    ),
    Program(
      name: "a list of 20 operations",
      source: """
        import CompositeOperations
        func use() {
          _ = ParallelOperation([
            \((0..<20).map { "SimpleOperation { \($0) }.named(\"x\")" }.joined(separator: ","))
          ])
        }
        """
    ),
  ])
  func `a program compiles`(program: Program) async throws {
    let object = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: object) }
    let compiler = try await ExampleCompiler()
    let clock = ContinuousClock()
    let start = clock.now
    // Later options override the check of types alone.
    let problems = try await compiler.problems(
      ofSources: [program.source], arguments: ["-c", "-Onone", "-o", object.path])
    let seconds = (clock.now - start) / .seconds(1)
    #expect(problems == [])
    #expect(FileManager.default.fileExists(atPath: object.path))
    let log = try FileHandle(forUpdating: URL(fileURLWithPath: #require(compileTimes)))
    try log.seekToEnd()
    try log.write(contentsOf: Data("\(seconds)\t\(program.name)\n".utf8))
    try log.close()
  }
}
