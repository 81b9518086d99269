import CompositeOperations
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

private let soakSeconds =
  ProcessInfo.processInfo.environment["COMPOSITE_SOAK_SECONDS"].flatMap { Int($0) } ?? 3

/// Random flows of processes, files, requests and queues. Half of them are cancelled at a random
/// time.
///
/// The duration is 3 s, or `COMPOSITE_SOAK_SECONDS`. Every run uses a new seed.
@Suite(.timeLimit(.minutes(10 + soakSeconds / 60))) struct SoakTests {
  // In a child process, because other tests open and close descriptors at the same time.
  @Test func `random flows leave no descriptors, zombies or temporary files`() async {
    await #expect(processExitsWith: .success) {
      let seed = UInt64.random(in: 0...UInt64.max)
      let end = ContinuousClock.now + .seconds(soakSeconds)
      var random = OperationRandomness.seeded(seed)
      let fixture = try SoakFixture()
      // Opens the connections, threads and watchers that stay open.
      try await runSoakFlows(20, in: fixture, using: &random)
      let before = try ResourceCounts.now
      var count = 0
      repeat {
        try await runSoakFlows(20, in: fixture, using: &random)
        count += 20
      } while ContinuousClock.now < end

      // Remains of a cancelled flow end by themselves soon.
      let limit = ContinuousClock.now + .seconds(60)
      var now = try ResourceCounts.now
      while now.zombies > 0 || now.descriptors > before.descriptors + 4, .now < limit {
        await Task.yield()
        now = try ResourceCounts.now
      }
      let comment = Comment(rawValue: "after \(count) flows of seed \(seed): \(now), not \(before)")
      #expect(now.zombies == 0 && now.descriptors <= before.descriptors + 4, comment)
      let hidden = try fixture.folder.names().filter { $0.hasPrefix(".") }
      #expect(hidden == [], "temporary files of seed \(seed)")
    }
  }
}

/// Runs flows in parallel and checks the outcome of each.
private func runSoakFlows(
  _ count: Int, in fixture: SoakFixture, using random: inout OperationRandomness
) async throws {
  let flows = (0..<count).map { _ in SoakFlow.random(depth: 3, using: &random) }
  let runs = flows.map { $0.operation(in: fixture).start() }
  let cancelled = runs.map { _ in Bool.random(using: &random) }
  for index in runs.indices.shuffled(using: &random) where cancelled[index] {
    let delay = Int.random(in: 0..<4_000, using: &random)
    if delay < 3_000 { await onNewThread { _ = usleep(UInt32(delay)) } }
    runs[index].cancel()
  }
  for index in runs.indices {
    let outcome = await runs[index].outcome
    if cancelled[index], outcome.isCancelled { continue }
    let comment = Comment(rawValue: "\(flows[index]) ended as \(outcome)")
    if let sum = flows[index].sum {
      #expect(outcome.result == sum, comment)
    } else {
      #expect(outcome.error != nil, comment)
    }
  }
}
