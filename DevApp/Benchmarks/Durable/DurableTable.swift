import Foundation

/// The figures of durable flows as a table in Markdown, a row for each way.
struct DurableTable {
  let goals: [DurableGoal]
  /// The ways to which ratios refer, of which a shape has at most one.
  let bases: [String]

  private static let columns: [(name: String, width: Int, isNumber: Bool)] = [
    ("shape", 15, false), ("way", 14, false), ("unit", 16, false), ("median", 8, true),
    ("least – most", 17, true), ("ratio", 5, true), ("goal", 5, false),
  ]

  /// Measures shapes, one after another, and prints the table.
  ///
  /// - Parameter fileSystem: The type of the file system of the databases.
  /// - Returns: The problems.
  func show(_ shapes: [Shape], rounds: Int, databasesOn fileSystem: String) throws -> [String] {
    let runner = Runner(sampler: Sampler(), rounds: rounds)
    try StandardOutput.write(
      """
      \(Machine(asksSwift: true).description)
      \(rounds) round\(rounds == 1 ? "" : "s"), databases on \(fileSystem), load \(load)

      \(head)
      """)
    var problems: [String] = []
    var results: [DurableGoalResult] = []
    for shape in shapes {
      let report = runner.measure(shape)
      for problem in report.problems { Main.complain(problem) }
      problems += report.problems
      if !report.ways.isEmpty { try StandardOutput.write(rows(of: report)) }
      results += goals.filter { $0.shape == report.id }.compactMap { $0.result(in: report) }
    }
    try StandardOutput.write(
      """

      Goals: \(results.count(where: \.isMet)) of \(results.count) met. Load at the end: \(load).
      """)
    return problems
  }

  /// The average number of processes that ran or waited for a core in the last minute.
  private var load: String {
    var average = 0.0
    return getloadavg(&average, 1) == 1 ? average.short : "unknown"
  }

  private var head: String {
    let rules = Self.columns.map { column in
      String(repeating: "-", count: column.width + 1) + (column.isNumber ? ":" : "-")
    }
    return row(Self.columns.map(\.name)) + "\n|" + rules.joined(separator: "|") + "|"
  }

  private func rows(of report: ShapeReport) -> String {
    report.ways.map { way in
      row([
        report.id, way.name, report.unit.rawValue, way.median.short,
        "\(way.least.short) – \(way.most.short)", ratio(of: way, in: report),
        goals(of: way, in: report),
      ])
    }.joined(separator: "\n")
  }

  /// The ratio to the base; empty where there is none.
  private func ratio(of way: WayReport, in report: ShapeReport) -> String {
    let base = bases.lazy.compactMap { report.way($0) }.first
    return base.map { way.ratioOfRounds(to: $0).short } ?? ""
  }

  private func goals(of way: WayReport, in report: ShapeReport) -> String {
    goals.filter { $0.shape == report.id && $0.way == way.name }
      .compactMap { $0.result(in: report)?.description }.joined(separator: "; ")
  }

  private func row(_ cells: [String]) -> String {
    let padded = zip(cells, Self.columns).map { cell, column in
      column.isNumber
        ? cell.aligned(to: column.width)
        : cell + String(repeating: " ", count: max(0, column.width - cell.count))
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
}
