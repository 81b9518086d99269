/// The figures of one shape.
struct ShapeReport: Encodable {
  let id: String
  let title: String
  let operations: Int
  let unit: Unit
  /// Whether any two ways can be compared.
  let hasEqualWays: Bool
  /// The way to which ratios refer: the first measured way of this package, or else of all.
  let main: String?
  /// The way with the smallest figure, or the largest rate; nil if all ways are of this package, if the ways do different
  /// work, or if the figure is not above 0. The limits of the machine do not count.
  let leader: String?
  private(set) var ways: [WayReport]
  let goals: [GoalReport]
  /// Ways that failed or had wrong results, and so have no figures.
  let problems: [String]

  init(_ shape: Shape, ways: [WayReport], problems: [String]) {
    id = shape.id
    title = shape.title
    operations = shape.operations
    unit = shape.unit
    hasEqualWays = shape.hasEqualWays
    let main = ways.first { $0.role == .ours } ?? ways.first
    self.main = main?.name
    let contenders = ways.filter { $0.role != .limit }
    let least = contenders.min { shape.unit.cost(of: $0.median) < shape.unit.cost(of: $1.median) }
    let isContest = hasEqualWays && contenders.contains { $0.role != .ours }
    leader = isContest && (least?.median ?? 0) > 0 ? least?.name : nil
    self.ways = ways.map { way in
      var way = way
      way.ratio = main.flatMap { way.ratio(to: $0) } ?? 0
      return way
    }
    goals = Goal.all.filter { goal in
      goal.shape == shape.id && shape.ways.contains { $0.name == goal.ours }
    }.map { GoalReport($0, among: ways, in: shape.unit) }
    self.problems = problems
  }
}
