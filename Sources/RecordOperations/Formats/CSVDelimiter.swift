/// What is between two cells of a CSV file.
public enum CSVDelimiter: Hashable, Sendable, CaseIterable {
  case comma
  /// As the spreadsheets of countries have it that write their fractions with a comma.
  case semicolon
  case tab

  package var byte: UInt8 {
    switch self {
    case .comma: UInt8(ascii: ",")
    case .semicolon: UInt8(ascii: ";")
    case .tab: UInt8(ascii: "\t")
    }
  }
}
