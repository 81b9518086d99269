/// A goal and its result.
struct GoalReport: Encodable {
  let ours: String
  /// The other way; if it was not measured, its name in the goal.
  let other: String?
  /// `atLeast` or `atMost`.
  let comparison: String
  /// The bound: a ratio to the other way, or a figure in the unit of the shape.
  let bound: Double
  /// The median over the rounds; nil if the ways were not measured. With another way, both figures
  /// of a round are compared first, because the speed of the machine varies between rounds.
  let value: Double?
  /// The least and the most over the rounds.
  let least: Double?
  let most: Double?
  /// Whether the figures of the rounds form two groups.
  let isBimodal: Bool
  let isMet: Bool?
  /// Why the goal is missed, if it is missed and the cause is known.
  let obstacle: String?

  init(_ goal: Goal, among ways: [WayReport], in unit: Unit) {
    let own = ways.first { $0.name == goal.ours }
    let beside = ways.first { $0.name == goal.other }
    ours = goal.ours
    other = goal.other
    let costs = { unit.cost(of: $0) / unit.cost(of: $1) }
    let figures: [Double]
    switch goal.bound {
    case .atLeastTimes(let times):
      (comparison, bound) = ("atLeast", times)
      figures = own.flatMap { own in beside?.paired(with: own, costs) } ?? []
    case .atMostTimes(let times):
      (comparison, bound) = ("atMost", times)
      figures = own.flatMap { own in beside.map { own.paired(with: $0, costs) } } ?? []
    case .atMost(let figure):
      (comparison, bound) = ("atMost", figure)
      figures = own?.samples ?? []
    }
    let spread = Spread(of: figures)
    value = spread?.median
    least = spread?.least
    most = spread?.most
    isBimodal = Spread.isBimodal(figures)
    isMet = spread.map { [comparison, bound] in
      comparison == "atLeast" ? $0.median >= bound : $0.median <= bound
    }
    obstacle = isMet == false ? goal.obstacle : nil
  }

  /// `≥ 40`, or `≤ 16`.
  var aim: String {
    let number = bound == bound.rounded() ? Int(bound).grouped : "\(bound)"
    return comparison == "atLeast" ? "≥ \(number)" : "≤ \(number)"
  }

  /// Whether the value is a ratio of the other way's figure and ours.
  var isRatio: Bool { other != nil }

  /// The measured value and its spread as text: `36.1 (29.4 – 40.2)`.
  var reached: String {
    guard let value, let least, let most else { return "not measured" }
    if least == most { return value.short }
    return "\(value.short) (\(least.short) – \(most.short)\(isBimodal ? ", two modes" : ""))"
  }

  /// `met`, or `missed by 12 %`.
  var verdict: String {
    guard let value, let isMet else { return "not measured" }
    if isMet { return "met" }
    let share = comparison == "atLeast" ? 1 - value / bound : value / bound - 1
    return "missed by \(max(1, Int((100 * share).rounded()))) %"
  }
}
