/// A formatter of figures as text, in a hundred columns.
struct Table {
  private static let width = 100

  func head(_ machine: Machine, rounds: Int) -> String {
    """
    \(machine.description)
    Median, least and most of \(rounds) round\(rounds == 1 ? "" : "s"); the ratio is to the first way's \
    median. A goal that compares two ways compares them within each round, and shows the same.

    """
  }

  func text(of shape: ShapeReport) -> String {
    var lines = [heading(of: shape)]
    lines.append(line("  " + shape.unit.rawValue, "median", "least – most", "ratio", ""))
    for way in shape.ways {
      lines.append(
        line(
          "  " + way.name, way.median.short, "\(way.least.short) – \(way.most.short)",
          way.ratio.short, remark(on: way)))
    }
    lines += shape.goals.map { "  goal: \(text(of: $0))" }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(of summary: GoalSummary) -> String {
    let measured = summary.met + summary.missed.count
    var lines = ["Goals: \(summary.met) of \(measured) met."]
    lines += summary.missed.flatMap { goal in
      ["  missed: \(goal.what)", "          \(goal.why ?? "cause unknown")"]
    }
    lines += summary.notMeasured.map { "  not measured: \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  func text(of comparison: Comparison) -> String {
    var lines: [String] = []
    if !comparison.slower.isEmpty {
      lines.append("Where another engine is faster than the best way of this package:")
      lines += comparison.slower.map { slower in
        "  \(slower.shape.padded(to: 22)) \(slower.times.short.aligned(to: 6)) × \(slower.way)"
      }
      lines.append("")
    }
    if !comparison.rivals.isEmpty {
      lines.append("This package is, in the median, the worst and the best of the common shapes,")
      lines += comparison.rivals.map { rival in
        let worst = "\(speed(rival.least)) (\(rival.worst))"
        let best = "\(speed(rival.most)) (\(rival.best))"
        return "  \(speed(rival.median).padded(to: 15)) than \(rival.name.padded(to: 23)) "
          + "\(worst) to \(best)"
      }
    }
    return lines.joined(separator: "\n")
  }

  /// `36.1 × faster`, or `1.45 × slower`.
  private func speed(_ ratio: Double) -> String {
    ratio >= 1 ? "\(ratio.short) × faster" : "\((1 / ratio).short) × slower"
  }

  private func heading(of shape: ShapeReport) -> String {
    let title = "\(shape.id): \(shape.title)"
    guard let leader = shape.leader else { return title }
    let leads = "leads: \(leader)"
    let gap = Self.width - title.count - leads.count
    return gap > 0 ? title + String(repeating: " ", count: gap) + leads : "\(title)\n  \(leads)"
  }

  private func remark(on way: WayReport) -> String {
    let isLimit = way.role == .limit ? "a limit" : nil
    let isBimodal = way.isBimodal ? "two modes" : nil
    return [isLimit, isBimodal].compactMap(\.self).joined(separator: ", ")
  }

  /// `any against withThrowingTaskGroup: 36.1 (29.4 – 40.2), ≥ 45 missed by 20 %`.
  private func text(of goal: GoalReport) -> String {
    let beside =
      switch (goal.other, goal.comparison) {
      case (nil, _): ""
      case (let other?, "atLeast"): " against \(other)"
      case (let other?, _): ", in times of \(other)"
      }
    if goal.value == nil { return "\(goal.ours)\(beside): \(goal.aim), not measured" }
    return "\(goal.ours)\(beside): \(goal.reached), \(goal.aim) \(goal.verdict)"
  }

  private func line(
    _ name: String, _ median: String, _ spread: String, _ ratio: String, _ remark: String
  ) -> String {
    let columns = [
      name.padded(to: 44), median.aligned(to: 8), spread.aligned(to: 18), ratio.aligned(to: 7),
    ]
    return remark.isEmpty ? columns.joined() : columns.joined() + "  " + remark
  }
}
