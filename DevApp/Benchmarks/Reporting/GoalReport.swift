/// A goal and its result.
struct GoalReport: Encodable {
  let ours: String
  /// The other way; if it was not measured, its name in the goal.
  let other: String?
  /// `atLeast`, `atMost` or `atMostMore`.
  let comparison: String
  /// The bound: a ratio to the other way, a difference from it for `atMostMore`, or a figure in the
  /// unit of the shape.
  let bound: Double
  /// The measured value; nil if the ways were not measured.
  let value: Double?
  let isMet: Bool?
  /// Why the goal is missed, if it is missed and the cause is known.
  let obstacle: String?

  init(_ goal: Goal, among ways: [WayReport]) {
    let own = ways.first { $0.name == goal.ours }
    let beside = goal.other.flatMap { name in
      ways.first { $0.name == name } ?? ways.first { $0.name.hasPrefix(name) }
    }
    ours = goal.ours
    other = beside?.name ?? goal.other
    switch goal.bound {
    case .atLeastTimes(let times):
      comparison = "atLeast"
      bound = times
      value = Self.ratio(of: beside, to: own)
      isMet = value.map { $0 >= times }
    case .atMostTimes(let times):
      comparison = "atMost"
      bound = times
      value = Self.ratio(of: own, to: beside)
      isMet = value.map { $0 <= times }
    case .atMostMore(let figure):
      comparison = "atMostMore"
      bound = figure
      value = own.flatMap { own in beside.map { own.median - $0.median } }
      isMet = value.map { $0 <= figure }
    case .atMost(let figure):
      comparison = "atMost"
      bound = figure
      value = own?.median
      isMet = value.map { $0 <= figure }
    }
    obstacle = isMet == false ? goal.obstacle : nil
  }

  private static func ratio(of first: WayReport?, to second: WayReport?) -> Double? {
    guard let first, let second else { return nil }
    return first.ratio(to: second)
  }

  /// Returns whether a table shows the goal in the line of a way.
  func belongs(to way: WayReport, main: String?) -> Bool {
    way.name == (other == nil || other == main ? ours : other)
  }

  /// `≥ 40`, `≤ 16`, or `≤ +50`.
  var aim: String {
    let number = bound == bound.rounded() ? Int(bound).grouped : "\(bound)"
    switch comparison {
    case "atLeast": return "≥ \(number)"
    case "atMostMore": return "≤ +\(number)"
    default: return "≤ \(number)"
    }
  }

  /// Whether the value is a ratio of the other way's figure and ours.
  var isRatio: Bool { other != nil && comparison != "atMostMore" }

  /// The measured value as text.
  var reached: String {
    let value = value ?? 0
    return (comparison == "atMostMore" && value >= 0 ? "+" : "") + value.short
  }

  /// `met`, or `missed by 12 %`.
  var verdict: String {
    guard let value, let isMet else { return "not measured" }
    if isMet { return "met" }
    let share = comparison == "atLeast" ? 1 - value / bound : value / bound - 1
    return "missed by \(max(1, Int((100 * share).rounded()))) %"
  }
}
