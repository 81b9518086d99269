internal import Foundation
internal import TestSupport
internal import Testing

/// Tests of another target in this bundle, which run in a child process on a PostgreSQL database.
enum BundleTests {
  /// Runs tests, which find the address in the variable `COMPOSITE_TEST_STORE`, and expects that they
  /// pass.
  ///
  /// - Parameters:
  ///   - suites: The suites of the target.
  ///   - width: The maximum number of tests that run at the same time.
  ///   - count: The minimum number of tests.
  static func run(
    _ suites: [String], of target: String, at address: String, width: Int, expecting count: Int
  ) async throws {
    var environment = ProcessInfo.processInfo.environment
    environment["COMPOSITE_TEST_STORE"] = address
    environment["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"] = "\(width)"
    let folder = try TemporaryFolder()
    let path = folder.url.appendingPathComponent("output").path
    try Data().write(to: URL(fileURLWithPath: path))
    let output = try #require(FileHandle(forWritingAtPath: path))
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let status = try await TestProgram(
      tests,
      [
        "--testing-library", "swift-testing", "--filter",
        "\(target)\\.(\(suites.joined(separator: "|")))",
      ], environment: environment
    ).start(output: output, error: output).end()
    try output.close()
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let problems = text.split(separator: "\n").filter {
      // Tests of random programs record their seeds.
      ["recorded an issue", "Fatal error", "seed "].contains(where: $0.contains)
    }
    #expect(status == 0, "\(problems.joined(separator: "\n")) \(text.suffix(500))")
    let number = text.firstMatch(of: /run with (\d+) tests?/).flatMap { Int($0.1) }
    #expect(number ?? 0 >= count, "\(text.suffix(300))")
  }
}
