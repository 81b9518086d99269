/// A formatter of figures as text, in a hundred columns.
struct Table {
  private static let width = 100

  func head(_ machine: Machine, rounds: Int) -> String {
    """
    \(machine.description)
    Median, least and most of \(rounds) round\(rounds == 1 ? "" : "s"); the ratio is to the first way's \
    median.

    """
  }

  func text(of shape: ShapeReport) -> String {
    var lines = [heading(of: shape)]
    lines.append(
      line("  " + shape.unit.rawValue, "median", "least – most", "ratio", "goal"))
    for way in shape.ways {
      lines.append(
        line(
          "  " + way.name, way.median.short, "\(way.least.short) – \(way.most.short)",
          way.ratio.short, goals(of: way, in: shape)))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(of summary: GoalSummary) -> String {
    let measured = summary.met + summary.missed.count
    var lines = ["Goals: \(summary.met) of \(measured) met."]
    lines += summary.missed.flatMap { goal in
      ["  missed: \(goal.what)", "          \(goal.why ?? "cause unknown")"]
    }
    lines += summary.notMeasured.map { "  not measured: \($0)" }
    return lines.joined(separator: "\n")
  }

  private func heading(of shape: ShapeReport) -> String {
    let title = "\(shape.id): \(shape.title)"
    guard let leader = shape.leader else { return title }
    let leads = "leads: \(leader)"
    let gap = Self.width - title.count - leads.count
    return gap > 0 ? title + String(repeating: " ", count: gap) + leads : "\(title)\n  \(leads)"
  }

  private func goals(of way: WayReport, in shape: ShapeReport) -> String {
    let goals = shape.goals.filter { $0.belongs(to: way, main: shape.main) }
    let texts = goals.map { goal in
      // The value is shown unless it is the ratio in this line.
      let isOwn =
        goal.other == nil || shape.main == (goal.comparison == "atLeast" ? goal.ours : goal.other)
      let reached = isOwn && goal.comparison != "atMostMore" ? "" : "\(goal.reached): "
      return reached + "\(goal.aim) \(goal.verdict)"
    }
    if texts.isEmpty, way.role == .limit { return "the machine's limit" }
    return texts.joined(separator: "; ")
  }

  private func line(
    _ name: String, _ median: String, _ spread: String, _ ratio: String, _ goal: String
  ) -> String {
    let columns = [
      name.padded(to: 44), median.aligned(to: 8), spread.aligned(to: 18), ratio.aligned(to: 7),
    ]
    return goal.isEmpty ? columns.joined() : columns.joined() + "  " + goal
  }
}
