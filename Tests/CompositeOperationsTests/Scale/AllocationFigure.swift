import Foundation
import Testing

/// The allocations of one more operation of a shape, as the program `AllocationCounts` counts them.
struct AllocationFigure {
  let shape: String
  let allocations: Double
  let bytes: Double

  /// Returns the figures of all shapes for a number of processors.
  static func all(processors: Int) async throws -> [AllocationFigure] {
    // In a separate program, because other tests allocate in this one.
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let counts = tests.deletingLastPathComponent().appendingPathComponent("AllocationCounts")
    try #require(
      FileManager.default.isExecutableFile(atPath: counts.path),
      "\(counts.path) is missing; run `swift build --build-tests`")
    let end = try await Program(file: counts, arguments: ["\(processors)"]).run()
    try #require(end.status == 0, "\(counts.path) exited with status \(end.status):\n\(end.output)")
    return try end.output.split(separator: "\n").map { try AllocationFigure(line: $0) }
  }

  private init(line: Substring) throws {
    let fields = line.split(separator: "\t")
    try #require(fields.count == 3, "\(line)")
    shape = String(fields[0])
    allocations = try #require(Double(fields[1]), "\(line)")
    bytes = try #require(Double(fields[2]), "\(line)")
  }
}
