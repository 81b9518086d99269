/// An error thrown when the operations of a timeline test behave differently than expected. It
/// shows the expected and the actual timelines, aligned by ticks.
public struct TimelineMismatchError: Error, Sendable, CustomStringConvertible {
  /// An operation of the test.
  struct Row: Sendable {
    let name: String
    /// The script of a child.
    var script = ""
    /// Nil if nothing was expected of the operation.
    let expected: Timeline?
    let seen: Timeline

    var isAsExpected: Bool { expected == nil || expected == seen }
  }

  /// The seed of the order in which the mismatch occurred.
  public let seed: UInt64
  let rows: [Row]
  /// The outcome of the composite.
  let end: String
  /// The module and the file of the test.
  public let file: String
  /// The line of the expectation.
  public let line: Int

  /// The expected and the actual timelines, one below the other.
  public var description: String {
    let head = "\(file):\(line): the timelines differ from the expected ones with seed \(seed):"
    return ([head, ""] + table + ["", "outcome of the composite: \(end)"]).joined(separator: "\n")
  }

  private var table: [String] {
    let timelines = rows.flatMap { row in
      [row.seen.columns] + (row.expected.map { [$0.columns] } ?? [])
    }
    let widths = (0..<(timelines.map(\.count).max() ?? 0)).map { tick in
      timelines.map { $0.count > tick ? $0[tick].count : 0 }.max() ?? 0
    }
    let nameWidth = rows.flatMap { [$0.name.count, $0.script.count] }.max() ?? 0
    func line(_ name: String, _ kind: String, _ columns: [String], differs: Bool = false) -> String
    {
      let cells = zip(columns, widths).map { $0.padded(to: $1) }.joined()
      let text =
        "  \(name.padded(to: nameWidth))  \(kind.padded(to: 8))  "
        + (differs ? "\(cells.padded(to: widths.reduce(0, +)))  ← differs" : cells)
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
    let ruler = widths.indices.map { "\($0 % 10)" }
    return [line("tick", "", ruler)]
      + rows.flatMap { row in
        guard let expected = row.expected else {
          return [line(row.name, "seen", row.seen.columns)]
            + (row.script.isEmpty ? [] : [line(row.script, "", [])])
        }
        return [
          line(row.name, "expected", expected.columns),
          line(row.script, "seen", row.seen.columns, differs: !row.isAsExpected),
        ]
      }
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
