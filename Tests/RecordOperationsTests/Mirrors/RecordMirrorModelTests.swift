import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import RecordOperations
import Testing

/// Runs random edits and rounds of three replicas.
///
/// `COMPOSITE_MIRROR_SEEDS=100000` runs as many programs, rounded up to a multiple of the parts, and
/// `COMPOSITE_MIRROR_SEED=7` the one with that seed. On PostgreSQL, connections are cut, too. Whether a
/// transaction is committed that is running when a round is killed depends on the time, so a seed may
/// have to be run several times.
@Suite struct RecordMirrorModelTests {
  /// The parts of the programs. Each is a test case, so that a run of all tests shows progress, and
  /// uses all processors at its end.
  private static let parts = 8

  private static func seeds(of kind: DatabaseKind, part: Int) -> Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["COMPOSITE_MIRROR_SEED"].flatMap(UInt64.init) {
      return part == 1 ? seed..<seed + 1 : 0..<0
    }
    let first = UInt64.random(in: 0..<UInt64.max / 2)
    let isFull = environment["COMPOSITE_TEST_DEPTH"] == "full"
    // A request to a server takes longer than one to memory.
    let usual: UInt64 = kind == .postgres ? (isFull ? 25 : 10) : (isFull ? 1_000 : 100)
    let count = environment["COMPOSITE_MIRROR_SEEDS"].flatMap(UInt64.init) ?? usual
    let parts = UInt64(Self.parts)
    return first..<first + (count + parts - 1) / parts
  }

  @Test(.timeLimit(.minutes(60)), arguments: DatabaseKind.remotes, 1...parts)
  func `random programs of three replicas with faults and kills end equal, and no edit is lost`(
    on kind: DatabaseKind, part: Int
  ) async throws {
    for seed in Self.seeds(of: kind, part: part) {
      let model = try MirrorModel(seed: seed, on: kind)
      try await model.prepare()
      for _ in 0..<40 { try await model.step() }
      let unrest = try await model.quiet()
      var problem = unrest
      if problem == nil { problem = try await model.problem() }
      if let problem {
        Issue.record("seed \(seed): \(problem)\n\(model.history.joined(separator: "\n"))")
        return
      }
    }
  }
}
