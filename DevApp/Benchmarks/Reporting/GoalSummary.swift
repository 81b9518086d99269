/// The number of goals that are met, and the goals that are missed.
struct GoalSummary: Encodable {
  struct Missed: Encodable {
    let what: String
    /// Nil if the cause is unknown.
    let why: String?
  }

  private(set) var met = 0
  private(set) var missed: [Missed] = []
  private(set) var notMeasured: [String] = []

  init(_ shapes: [ShapeReport]) {
    for shape in shapes {
      for goal in shape.goals {
        let what = "\(shape.id), \(goal.ours)" + (goal.other.map { " beside \($0)" } ?? "")
        switch goal.isMet {
        case true?: met += 1
        case false?:
          let unit = goal.isRatio ? "times" : shape.unit.rawValue
          let reached = "\(what): \(goal.reached) \(unit), goal \(goal.aim)"
          missed.append(Missed(what: reached, why: goal.obstacle))
        case nil: notMeasured.append(what)
        }
      }
    }
  }
}
