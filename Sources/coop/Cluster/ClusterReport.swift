import DurableOperations
import Foundation
import SystemSupport

/// The result of the demo, compared with the flow without a cluster.
struct ClusterReport {
  private let sum: Int
  private let expected: Int
  private let snapshot: ClusterSnapshot
  private let workers: [ClusterWorkers.Worker]
  private let steps: [BegunStep]
  private let lease: Duration
  private let duration: Duration

  init(
    _ result: (sum: Int, snapshot: ClusterSnapshot), expected: Int,
    _ workers: [ClusterWorkers.Worker], _ steps: [BegunStep], lease: Duration,
    after duration: Duration
  ) {
    (sum, snapshot) = result
    self.expected = expected
    self.workers = workers
    self.steps = steps
    self.lease = lease
    self.duration = duration
  }

  /// Whether the sums are equal, and only steps in progress on a killed worker began twice.
  var isGood: Bool { sum == expected && unexplained.isEmpty }

  var text: String {
    var lines = [
      "sum of \(snapshot.count.counted("child flow")): \(sum) on the cluster, "
        + "\(expected) in one process: \(sum == expected ? "equal" : "not equal")",
      "child flows by the worker that ended them:",
    ]
    var layout = TableLayout(numbers: [2], width: nil)
    var rows = workers.map { worker in
      [
        "  worker \(worker.number)", worker.name ?? "did not begin",
        "\(snapshot.ended(on: worker))",
        worker.killed == nil ? "" : "killed",
      ]
    }
    let others = snapshot.ended - workers.map(snapshot.ended).reduce(0, +)
    if others > 0 { rows.append(["  others", "", "\(others)", ""]) }
    lines += layout.text(of: rows).split(separator: "\n").map(String.init)
    let total = snapshot.count * ClusterPart.stepCount
    lines.append("steps that began twice: \(repeated.count) of \(total)\(cause)")
    if let takeover {
      lines.append(
        "takeover: \(takeovers.count.counted("child flow")) continued \(takeover) after the kill "
          + "(lease: \(lease.readable); those that were ready came first)")
    }
    lines.append("duration: \(duration.readable)")
    return lines.map { $0 + "\n" }.joined()
  }

  /// Why steps began twice.
  private var cause: String {
    if repeated.isEmpty { return "" }
    return unexplained.isEmpty
      ? ", each in progress on a killed worker"
      : ", \(unexplained.count) of them not in progress on a killed worker"
  }

  // MARK: Steps

  private struct Key: Hashable {
    let part, step: Int
  }

  /// The steps that began more than once, each with its beginnings.
  private var repeated: [[BegunStep]] {
    Dictionary(grouping: steps) { Key(part: $0.part, step: $0.step) }.values
      .filter { $0.count > 1 }
  }

  private var killed: [Int32: Date] {
    Dictionary(
      uniqueKeysWithValues: workers.compactMap { worker in
        guard let process = worker.processIdentifier, let killed = worker.killed else { return nil }
        return (process, killed)
      })
  }

  /// The steps that began more than once although no worker was killed during them.
  private var unexplained: [[BegunStep]] {
    let killed = killed
    return repeated.filter { beginnings in
      beginnings.count > 2 || killed[beginnings[0].process] == nil
    }
  }

  /// For each child flow of a killed worker, the time from the kill until another one continued it.
  private var takeovers: [Duration] {
    let killed = killed
    return Dictionary(grouping: steps, by: \.part).values.compactMap { steps in
      for (previous, next) in zip(steps, steps.dropFirst()) {
        if let kill = killed[previous.process], next.process != previous.process {
          return .milliseconds(Int64(next.date.timeIntervalSince(kill) * 1_000))
        }
      }
      return nil
    }
  }

  private var takeover: String? {
    guard let first = takeovers.min(), let last = takeovers.max() else { return nil }
    return "\(first.readable) to \(last.readable)"
  }
}
