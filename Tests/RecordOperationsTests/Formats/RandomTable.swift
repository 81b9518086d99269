import CompositeOperations
import Foundation
import RecordOperations

/// Random rows of values that are difficult for formats.
struct RandomTable {
  let columns: [String]
  let rows: [[FieldValue]]

  enum Content {
    /// All kinds of values that a field can hold.
    case any
    /// Texts that are not empty, and integers, which Python writes in the same form.
    case plain
  }

  init(_ content: Content, using random: inout OperationRandomness) {
    let count = Int.random(in: 1...5, using: &random)
    columns = (0..<count).map { "column \($0) \(Self.text(using: &random))" }
    rows = (0..<Int.random(in: 0...6, using: &random)).map { _ in
      (0..<count).map { _ in Self.value(content, using: &random) }
    }
  }

  /// A date and its text.
  static let timestamp = (
    date: Date(timeIntervalSince1970: 1_795_348_984.123), text: "2026-11-22T12:03:04.123Z"
  )

  private static let pieces = [
    "a", "bc", " ", ",", ";", "\t", "\"", "\"\"", "\n", "\r", "\r\n", "'", "=", "+", "-", "@", "\\",
    "/", "é", "e\u{301}", "漢", "😀", "\u{2028}", "\u{FEFF}", "null", "0", "\u{1}", "\u{7F}",
  ]

  static func text(using random: inout OperationRandomness) -> String {
    // Shorter and longer than the 16 bytes that are examined at once.
    let count = Bool.random(using: &random) ? 4 : 30
    return (0...Int.random(in: 0...count, using: &random)).map { _ in
      Bool.random(using: &random) ? "x" : pieces.randomElement(using: &random) ?? ""
    }.joined()
  }

  private static func value(
    _ content: Content, using random: inout OperationRandomness
  ) -> FieldValue {
    let integer = Int64.random(in: .min ... .max, using: &random)
    switch (content, Int.random(in: 0...11, using: &random)) {
    case (_, 0): return .integer(integer >> Int64.random(in: 0...63, using: &random))
    case (.plain, _):
      // Python does not quote a byte order mark.
      let text = text(using: &random)
      return .string(text.hasPrefix("\u{FEFF}") ? "x\(text)" : text)
    case (.any, 1...3): return .string(text(using: &random))
    case (.any, 4): return .string("")
    case (.any, 5): return .double(Double(bitPattern: UInt64(bitPattern: integer)).orZero)
    case (.any, 6): return .double(Double(integer >> 50))
    case (.any, 7): return .date(timestamp.date)
    case (.any, 8): return .bytes(Array(text(using: &random).utf8.dropFirst(1)))
    case (.any, 9): return .reference(RecordReference(RecordID("Book", text(using: &random))))
    case (.any, 10): return .list([.string(text(using: &random)), .integer(integer), .null, 0.5])
    case (.any, _): return .null
    }
  }

  func bytes(_ formatter: some RecordFormatter) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try formatter.appendHeader(for: columns, to: &bytes)
    for (index, row) in rows.enumerated() {
      if index > 0 { formatter.appendDelimiter(to: &bytes) }
      try formatter.append(row, for: columns, to: &bytes)
    }
    try formatter.appendFooter(for: columns, after: rows.count, to: &bytes)
    return bytes
  }

  /// The same bytes, by the interface for cells in memory.
  func bytesOfCells(_ formatter: some CellFormatter) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try formatter.appendHeader(for: columns, to: &bytes)
    let writer = formatter.cellWriter(for: columns)
    for (index, row) in rows.enumerated() {
      if index > 0 { formatter.appendDelimiter(to: &bytes) }
      for (column, value) in row.enumerated() {
        try unsafe value.withCell { try unsafe writer.append($0, at: column, to: &bytes) }
      }
    }
    try formatter.appendFooter(for: columns, after: rows.count, to: &bytes)
    return bytes
  }
}

extension Double {
  fileprivate var orZero: Double { isFinite ? self : 0 }
}

extension FieldValue {
  /// Calls a body with the cell that a database would have for the value.
  func withCell(_ body: (FormattedCell) throws -> Void) throws {
    switch self {
    case .null: try unsafe body(.null)
    case .integer(let number): try unsafe body(.integer(number))
    case .double(let number): try unsafe body(.double(number))
    case .bytes(let bytes): try unsafe bytes.withUnsafeBytes { try unsafe body(.bytes($0)) }
    case .list:
      try unsafe Array(json.utf8).withUnsafeBytes { try unsafe body(.json($0)) }
    case .string, .date, .reference:
      try unsafe Array(text.utf8).withUnsafeBytes { try unsafe body(.text($0)) }
    }
  }

  /// The text of its CSV cell.
  var text: String {
    switch self {
    case .null: ""
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): text
    case .bytes(let bytes): Data(bytes).base64EncodedString()
    case .date(let date):
      date == RandomTable.timestamp.date ? RandomTable.timestamp.text : "unknown"
    case .reference(let reference):
      reference.onDelete == .keep ? reference.id.description : reference.id.name
    case .list: json
    }
  }

  /// Its JSON, computed differently from the formatters.
  private var json: String {
    switch self {
    case .null: return "null"
    case .integer, .double: return text
    case .list(let values): return "[\(values.map(\.json).joined(separator: ","))]"
    case .string, .bytes, .date, .reference:
      return "\"\(text.unicodeScalars.map(Self.escape).joined())\""
    }
  }

  private static func escape(_ scalar: UnicodeScalar) -> String {
    switch scalar {
    case "\"", "\\": "\\\(scalar)"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\0"..<" ":
      "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
    default: String(scalar)
    }
  }
}
