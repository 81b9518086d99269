import CompositeOperations
import DurableOperations
import Foundation

/// Flows of ten short steps, which a worker runs, a number of them at once.
struct FlowBatch: Sendable {
  static let steps = 10

  let count: Int
  let width: Int

  var title: String { "\(count.grouped) flows of \(Self.steps) steps, \(width) at once" }

  /// Starts the flows, which no worker runs yet.
  func start(in store: RunStore) async throws {
    try await withThrowingTaskGroup { group in
      for part in 0..<64 {
        group.addTask {
          for number in stride(from: part, to: count, by: 64) {
            try await store.start(CountingFlow(count: Self.steps), named: "run-\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Runs the flows with a worker.
  ///
  /// - Returns: The nanoseconds from the start of the worker until the last flow has ended.
  func run(in store: RunStore) async throws -> Double {
    FlowTimes.reset()
    let worker = DurableWorker(
      in: store, running: [CountingFlow.self], width: .limited(to: width))
    let start = Date()
    let task = Task { await worker.run() }
    _ = try await FlowTimes.wait(for: .output, times: count)
    // The last ones store their outcomes.
    while try await !store.runs(in: [.ready, .running], limit: 1).isEmpty {}
    task.cancel()
    _ = await task.value
    let runs = try await store.runs(in: [.result], limit: count)
    guard runs.count == count, let last = runs.compactMap(\.ended).max() else {
      throw BenchmarkError("\(runs.count) of \(count) flows have a result")
    }
    return last.timeIntervalSince(start) * 1e9
  }
}

extension Shape {
  /// The flows in an SQLite file, for orientation.
  static func oneMachine(_ batch: FlowBatch, in folder: DurableFolder) -> Shape {
    Shape(
      id: "one-machine", title: "\(batch.title), in an SQLite file",
      operations: batch.count * FlowBatch.steps, unit: .stepsPerSecond,
      ways: [
        Way("SQLite", .ours) {
          try await folder.withFile { file in
            let store = RunStore.sqlite(file)
            try await batch.start(in: store)
            let nanoseconds = try await batch.run(in: store)
            await store.close()
            return Sample(amount: nanoseconds, checksum: 0)
          }
        }
      ])
  }
}
