/// A goal for a way in a shape about durable flows.
struct DurableGoal {
  enum Bound {
    /// The figure is at least this many times the figure of another way.
    case atLeastTimes(Double, String)
    /// The figure is at most this many times the figure of another way.
    case atMostTimes(Double, String)
    /// The figure is at least this.
    case atLeast(Double)
    /// The figure is at most this.
    case atMost(Double)
    /// The smallest figure is at most this much above the smallest figure of another way. Other load
    /// affects these least.
    case atMostMore(Double, than: String)
  }

  let shape: String
  let way: String
  let bound: Bound

  init(_ shape: String, _ way: String, _ bound: Bound) {
    self.shape = shape
    self.way = way
    self.bound = bound
  }

  /// All goals, for the default sizes.
  static let all: [DurableGoal] = [
    DurableGoal("one-flow", ours, .atLeastTimes(0.5, bareInsert)),
    DurableGoal("one-flow", ours, .atLeastTimes(10, "DBOS")),
    DurableGoal("flows-64", ours, .atLeastTimes(6, bareInsert)),
    DurableGoal("flows-64", ours, .atLeastTimes(100, "DBOS")),
    DurableGoal("one-flow-normal", ours, .atLeast(8_000)),
    DurableGoal("under-load", ours, .atLeastTimes(0.25, bareInsert)),
    DurableGoal("resume", "from the claim", .atMost(2)),
    DurableGoal("takeover", "waiting worker", .atMost(50)),
    DurableGoal("parked", "all begun", .atMost(2_000)),
    DurableGoal("parked-memory", "resident", .atMost(1_024)),
    DurableGoal("journaled", "journaled(as:)", .atMostMore(5, than: "no modifier")),
  ]

  private static let ours = DurableCatalogue.ours
  private static let bareInsert = DurableCatalogue.bareInsert

  /// - Returns: The result for the figures of the shape; nil if a way was not measured.
  func result(in report: ShapeReport) -> DurableGoalResult? {
    guard let own = report.way(way) else { return nil }
    switch bound {
    case .atLeastTimes(let times, let other):
      guard let beside = report.way(other) else { return nil }
      let value = own.ratioOfRounds(to: beside)
      let subject = other == "DBOS" ? "\(value.short) × \(other), " : ""
      return DurableGoalResult(text: "\(subject)≥ \(times.plain) ×", isMet: value >= times)
    case .atMostTimes(let times, let other):
      guard let beside = report.way(other) else { return nil }
      let value = own.ratioOfRounds(to: beside)
      return DurableGoalResult(text: "≤ \(times.plain) ×", isMet: value <= times)
    case .atLeast(let figure):
      return DurableGoalResult(text: "≥ \(figure.plain)", isMet: own.median >= figure)
    case .atMost(let figure):
      return DurableGoalResult(text: "≤ \(figure.plain)", isMet: own.median <= figure)
    case .atMostMore(let figure, let other):
      guard let beside = report.way(other) else { return nil }
      let value = own.least - beside.least
      return DurableGoalResult(
        text: "\(value < 0 ? "" : "+")\(value.short), ≤ +\(figure.plain)", isMet: value <= figure)
    }
  }
}

struct DurableGoalResult {
  let text: String
  let isMet: Bool

  var description: String { "\(text) \(isMet ? "met" : "**missed**")" }
}

extension ShapeReport {
  func way(_ name: String) -> WayReport? { ways.first { $0.name == name } }
}

extension WayReport {
  /// The median of the ratios of each round, in which both ways found the machine in the same
  /// state.
  func ratioOfRounds(to other: WayReport) -> Double {
    let ratios = zip(samples, other.samples).map { $0 / $1 }
    return WayReport(name: name, role: role, samples: ratios).median
  }
}

extension Double {
  /// The number without decimals that are 0.
  fileprivate var plain: String {
    self == rounded() ? Int(self).grouped : "\(self)"
  }
}
