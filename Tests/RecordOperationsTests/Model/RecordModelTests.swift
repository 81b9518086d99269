import CompositeOperations
import Foundation
import RecordOperations
import Testing

/// Runs random programs on a faulty database, and compares it with a model.
///
/// `COMPOSITE_SOAK_SECONDS=600` runs ten thousand programs for each kind of database.
@Suite struct RecordModelTests {
  @Test(.timeLimit(.minutes(20)), arguments: DatabaseKind.allCases)
  func `random programs on a faulty database lose no change and make none twice`(
    kind: DatabaseKind
  ) async throws {
    let first = UInt64.random(in: 0...UInt64.max)
    for seed in first..<first &+ kind.seedCount {
      var program = try RecordProgram(seed: seed, on: kind)
      for step in 0..<8 {
        if let problem = try await program.step() {
          Issue.record("seed \(seed), step \(step): \(problem)")
          return
        }
      }
    }
  }
}

extension DatabaseKind {
  fileprivate var seedCount: UInt64 {
    if ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"] != nil { return 10_000 }
    // A request over HTTP takes milliseconds.
    if self == .cloudKit { return 20 }
    // PostgresOperationsTests runs this test on four servers.
    let parts: UInt64 = self == .postgres ? 4 : 1
    #if DEBUG || SANITIZER
      return self == .memory ? 1_000 : 100 / parts
    #else
      return self == .memory ? 10_000 : 1_000 / parts
    #endif
  }
}
