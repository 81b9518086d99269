import RecordOperations
import Synchronization

/// Rows in columns that stand below one another.
struct TableLayout {
  private let numbers: Set<Int>
  private var lines: [[String]]

  /// - Parameters:
  ///   - header: What the columns are called.
  ///   - numbers: Which columns have numbers, and end at the same place.
  init(_ header: [String], numbers: Set<Int>) {
    lines = [header.map(\.onOneLine)]
    self.numbers = numbers
  }

  mutating func add(_ row: [String]) { lines.append(row.map(\.onOneLine)) }

  /// - Parameter width: How many characters a line may have; nil for all that it has.
  func text(in width: Int?) -> String {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { cells in
      let padded = cells.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return numbers.contains(column) ? space + cell : cell + space
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      if let width, line.count > width { line = line.prefix(max(1, width - 1)) + "…" }
      return line + "\n"
    }.joined()
  }
}

extension String {
  /// Without what would break the line, or steer the terminal.
  fileprivate var onOneLine: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "·" : $0 }))
  }
}

/// Keeps the rows that it is to write, because how wide a column is the last one may say.
final class RowCollector: RecordFormatter {
  private let collected = Mutex<(columns: [String], rows: [[FieldValue]])>(([], []))

  var rows: (columns: [String], rows: [[FieldValue]]) { collected.withLock { $0 } }

  func appendHeader(for columns: [String], to bytes: inout [UInt8]) {
    collected.withLock { $0.columns = columns }
  }

  func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) {
    collected.withLock { $0.rows.append(values) }
  }

  func appendDelimiter(to bytes: inout [UInt8]) {}

  func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {}

  /// The columns that have nothing but numbers.
  static func numbers(in rows: [[FieldValue]]) -> Set<Int> {
    Set((rows.first ?? []).indices.filter { column in rows.allSatisfy { $0[column].isNumber } })
  }
}

extension FieldValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .double, .null: true
    case .string, .bytes, .date, .reference, .list: false
    }
  }

  /// It in a table for people.
  var forPeople: String {
    switch self {
    case .null: "–"
    case .bytes(let bytes): "<\(bytes.count.asBytes)>"
    case .integer, .double, .string, .date, .reference, .list:
      (try? CSVFormatter().text(of: self)) ?? "?"
    }
  }
}
