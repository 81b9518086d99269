import RecordOperations

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The summary of an export or an import.
struct RecordsSummary: Encodable {
  struct BadRow: Encodable {
    let line: Int
    let lastLine: Int
    /// The number of rows that may be missing because of it.
    let rows: Int
    let problem: String
  }

  let records: Int
  /// Nil for an import.
  let bytes: Int?
  let seconds: Double
  let file: String
  /// Nil for an export.
  let badRows: [BadRow]?

  init(records: Int, bytes: Int?, seconds: Double, file: String, problems: [RowProblem]?) {
    (self.records, self.bytes, self.seconds, self.file) = (records, bytes, seconds, file)
    badRows = problems?.map {
      BadRow(line: $0.line, lastLine: $0.lastLine, rows: $0.rowCount, problem: $0.text)
    }
  }

  /// The duration for display.
  var time: String {
    let hundredths = Int((seconds * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
  }
}

extension Encodable {
  /// Returns the value as a JSON document.
  func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
  }
}
