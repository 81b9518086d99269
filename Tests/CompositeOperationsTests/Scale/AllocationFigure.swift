import Foundation
import Testing

/// What one more operation of a shape allocates, as the program `AllocationCounts` counts it.
struct AllocationFigure {
  let shape: String
  let allocations: Double
  let bytes: Double

  /// The figures of all shapes with so many processors.
  static func all(processors: Int) async throws -> [AllocationFigure] {
    // In a program of its own, because other tests allocate in this one meanwhile.
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let counts = tests.deletingLastPathComponent().appendingPathComponent("AllocationCounts")
    try #require(
      FileManager.default.isExecutableFile(atPath: counts.path),
      "\(counts.path) is missing; `swift build --build-tests` makes it.")
    let end = try await Program(file: counts, arguments: ["\(processors)"]).run()
    try #require(end.status == 0, "\(counts.path) ended in \(end.status):\n\(end.output)")
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
