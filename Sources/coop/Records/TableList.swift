import SystemSupport

/// The tables of a file, for display.
struct TableList {
  let tables: [TableDescription]

  /// - Parameter width: The number of columns of the terminal; nil without a terminal.
  func text(in width: Int?) -> String {
    if tables.isEmpty { return "no tables\n" }
    let heads = [["table", "kind", "rows"]] + tables.map { [$0.name, $0.kind, $0.rows] }
    let lead = (0..<3).reduce(0) { lead, column in
      lead + (heads.map { $0[column].terminalWidth }.max() ?? 0) + 2
    }
    // Names that leave too little room make the lines longer than the terminal, where they are cut.
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

  /// The problems of single tables.
  var problemLines: [String] {
    tables.compactMap { table in
      table.problem.map { "\(table.kind) \(table.name) cannot be read: \($0)" }
    }
  }
}

extension TableDescription {
  fileprivate var rows: String { rowCount.map(\.grouped) ?? "?" }

  /// - Parameter room: The maximum width of a line; nil for a single line.
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
