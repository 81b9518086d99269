/// The tables of a file, for people.
struct TableList {
  let tables: [TableDescription]

  /// - Parameter width: How many columns the terminal has; nil if there is none.
  func text(in width: Int?) -> String {
    if tables.isEmpty { return "no tables\n" }
    let heads = [["table", "kind", "rows"]] + tables.map { [$0.name, $0.kind, $0.rows] }
    let lead = (0..<3).reduce(0) { lead, column in
      lead + (heads.map { $0[column].terminalWidth }.max() ?? 0) + 2
    }
    // A name that leaves no room for others has the lines cut.
    let room = width.flatMap { $0 - lead >= 20 ? $0 - lead : nil }
    var rows = [heads[0] + ["columns"]]
    for (head, table) in zip(heads.dropFirst(), tables) {
      let lines = table.columnLines(in: room)
      rows.append(head + [lines.first ?? ""])
      rows += lines.dropFirst().map { ["", "", "", $0] }
    }
    var layout = TableLayout(numbers: [2], width: width)
    return layout.text(of: rows)
  }

  /// What is wrong with some of them.
  var problemLines: [String] {
    tables.compactMap { table in
      table.problem.map { "\(table.kind) \(table.name) cannot be read: \($0)" }
    }
  }
}

extension TableDescription {
  fileprivate var rows: String { rowCount.map(\.grouped) ?? "?" }

  /// - Parameter room: How wide a line may be; nil if there is to be one.
  fileprivate func columnLines(in room: Int?) -> [String] {
    var lines: [String] = []
    for column in columns {
      let text = column.type.isEmpty ? column.name : "\(column.name) \(column.type)"
      guard let last = lines.last else {
        lines.append(text)
        continue
      }
      let longer = "\(last), \(text)"
      if let room, longer.terminalWidth >= room {
        lines[lines.count - 1] += ","
        lines.append(text)
      } else {
        lines[lines.count - 1] = longer
      }
    }
    return lines
  }
}
