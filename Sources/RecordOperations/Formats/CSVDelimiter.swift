/// The delimiter between the cells of a CSV file.
public enum CSVDelimiter: Hashable, Sendable, CaseIterable {
  case comma
  /// Used by spreadsheets in countries whose decimal separator is a comma.
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
