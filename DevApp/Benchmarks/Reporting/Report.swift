/// The results of a run of the benchmarks.
struct Report: Encodable {
  let machine: Machine
  let rounds: Int
  var shapes: [ShapeReport] = []
  /// Peers that did not start, ways that failed, and results that did not agree.
  var problems: [String] = []
  var summary: GoalSummary { GoalSummary(shapes) }
  var comparison: Comparison { Comparison(shapes) }

  private enum CodingKeys: CodingKey { case machine, rounds, shapes, problems, goals, comparison }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(machine, forKey: .machine)
    try container.encode(rounds, forKey: .rounds)
    try container.encode(shapes, forKey: .shapes)
    try container.encode(problems, forKey: .problems)
    try container.encode(summary, forKey: .goals)
    try container.encode(comparison, forKey: .comparison)
  }
}
