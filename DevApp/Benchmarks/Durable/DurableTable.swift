/// The figures of durable flows as a table in Markdown, a row for each way.
struct DurableTable {
  private static let columns: [(name: String, width: Int, isNumber: Bool)] = [
    ("shape", 15, false), ("way", 14, false), ("unit", 16, false), ("median", 8, true),
    ("least – most", 17, true), ("ratio", 5, true), ("goal", 5, false),
  ]

  var head: String {
    let rules = Self.columns.map { column in
      String(repeating: "-", count: column.width + 1) + (column.isNumber ? ":" : "-")
    }
    return row(Self.columns.map(\.name)) + "\n|" + rules.joined(separator: "|") + "|"
  }

  func rows(of report: ShapeReport) -> String {
    report.ways.map { way in
      row([
        report.id, way.name, report.unit.rawValue, way.median.short,
        "\(way.least.short) – \(way.most.short)", ratio(of: way, in: report),
        goals(of: way, in: report),
      ])
    }.joined(separator: "\n")
  }

  /// The ratio to SQLite alone or to the operation without a modifier; empty where there is none.
  private func ratio(of way: WayReport, in report: ShapeReport) -> String {
    let base = report.way(DurableCatalogue.bareInsert) ?? report.way("no modifier")
    return base.map { way.ratioOfRounds(to: $0).short } ?? ""
  }

  private func goals(of way: WayReport, in report: ShapeReport) -> String {
    DurableGoal.all.filter { $0.shape == report.id && $0.way == way.name }
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
