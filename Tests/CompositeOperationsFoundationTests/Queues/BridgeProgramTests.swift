import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

/// Random programs of dependencies, priorities, widths, failures and cancellations, run by
/// Foundation alone and through both bridges.
@Suite(.timeLimit(.minutes(10))) struct BridgeProgramTests {
  @Test func `B1: a queue treats composable operations like its own`()
    async throws
  {
    try await compare { program, plain in
      let log = BridgeLog()
      let nodes = await onNewThread { program.runInQueue(log, program.composable) }
      // With a width of 1, the order is the same, too.
      return Comparison(log: log, nodes: nodes, isInOrder: program.width == 1)
    }
  }

  @Test func `B2: operations have the same states in a composite as in a queue`() async throws {
    try await compare { program, plain in
      let log = BridgeLog()
      let (nodes, isCancelled) = await program.runInComposite(log)
      let cancels = program.canceller.map { plain.entries.contains(.began($0)) } ?? false
      #expect(isCancelled == cancels)
      return Comparison(log: log, nodes: nodes, isInOrder: false)
    }
  }

  @Test func `a queue can mix its own and composable operations`() async throws {
    try await compare { program, plain in
      let log = BridgeLog()
      let nodes = await onNewThread {
        program.runInQueue(log) { node, log, table in
          node.isMultiple(of: 2)
            ? program.composable(node, log, table) : program.legacy(node, log, table)
        }
      }
      return Comparison(log: log, nodes: nodes, isInOrder: program.width == 1)
    }
  }

  private struct Comparison {
    let log: BridgeLog
    let nodes: [BridgeProgram.Observation]
    /// Whether the order must be the same as with Foundation alone.
    let isInOrder: Bool
  }

  /// Compares each run with a run by Foundation alone.
  private func compare(
    _ run: (BridgeProgram, _ plain: BridgeLog) async -> Comparison
  ) async throws {
    let seed = UInt64.random(in: 0..<UInt64.max)
    var random = OperationRandomness.seeded(seed)
    for number in 0..<300 {
      let program = BridgeProgram.random(using: &random)
      let plain = BridgeLog()
      let expected = await onNewThread { program.runInQueue(plain, program.legacy) }
      let seen = await run(program, plain)
      let comment = Comment(rawValue: "program \(number) of seed \(seed): \(program)")
      try #require(seen.nodes == expected, comment)
      try #require(!seen.isInOrder || seen.log.entries == plain.entries, comment)
      try #require(program.faults(in: plain) == [], comment)
      try #require(program.faults(in: seen.log) == [], comment)
    }
  }
}
