import DurableOperations
import Foundation
import SystemSupport

/// The child flows of the demo at one time, as the store has them.
struct ClusterSnapshot: Sendable {
  let count: Int
  /// How many have ended.
  let ended: Int
  private let runningOn: [String: Int]
  private let endedOn: [String: Int]

  /// Reads the child flows of a run.
  init(of parent: RunID, count: Int, in store: RunStore) async throws {
    let parts = try await store.runs(of: ClusterPart.flowName, limit: 10_000)
      .filter { $0.parent == parent }
    let done = parts.filter(\.state.hasEnded)
    self.count = count
    ended = done.count
    runningOn = Self.counts(parts.filter { $0.state == .running })
    endedOn = Self.counts(done)
  }

  private static func counts(_ runs: [RunSummary]) -> [String: Int] {
    Dictionary(runs.map { ($0.worker ?? "", 1) }, uniquingKeysWith: +)
  }

  func running(on worker: ClusterWorkers.Worker) -> Int { runningOn[worker.name ?? "?"] ?? 0 }
  func ended(on worker: ClusterWorkers.Worker) -> Int { endedOn[worker.name ?? "?"] ?? 0 }

  /// Returns the lines of the live view.
  func lines(
    of workers: [ClusterWorkers.Worker], after duration: Duration, in width: Int
  ) -> [String] {
    let room = max(10, min(40, width - 50))
    let filled = count > 0 ? room * ended / count : room
    let bar =
      String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled)
    let seconds = Int(duration / .seconds(1))
    let head = "\(bar)  \(ended) of \(count.counted("child flow")) ended  \(seconds) s"
    let rows = workers.map { worker in
      [
        "  worker \(worker.number)", worker.name ?? "starting", "\(ended(on: worker)) ended",
        worker.killed == nil
          ? "\(running(on: worker)) running" : "killed, \(running(on: worker)) not taken over",
      ]
    }
    var layout = TableLayout(numbers: [2], width: width)
    let table = layout.text(of: rows).split(separator: "\n").map(String.init)
    return [head.cut(to: width)] + table
  }
}
