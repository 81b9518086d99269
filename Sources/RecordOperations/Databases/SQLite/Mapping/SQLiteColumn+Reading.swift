package import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension SQLiteColumn {
  /// Returns the value of a field, according to the meaning of the column.
  package func fieldValue(_ value: SQLiteValue) -> FieldValue { meaning.fieldValue(value) }
}

extension SQLiteMeaning {
  /// Returns the value of a field. A value that does not match the meaning is returned as SQLite
  /// stores it, and text that is not UTF-8 as bytes.
  func fieldValue(_ value: SQLiteValue) -> FieldValue {
    switch (self, value) {
    case (.date, .text(let text)): Date(text: text).map { .date($0) } ?? .string(text)
    case (.list, .text(let text)): FieldValue(listText: text) ?? .string(text)
    case (.keptReference, .text(let text)):
      RecordID(referenceText: text).map { .reference(RecordReference($0)) } ?? .string(text)
    case (.foreignKey(let type, let rule), .text(let name)):
      .reference(RecordReference(RecordID(type, name), onDelete: rule))
    case (.foreignKey(let type, let rule), .integer(let number)):
      .reference(RecordReference(RecordID(type, "\(number)"), onDelete: rule))
    case (_, .null): .null
    case (_, .integer(let number)): .integer(number)
    case (_, .real(let number)): .double(number)
    case (_, .text(let text)): .string(text)
    case (_, .illFormedText(let bytes)), (_, .blob(let bytes)): .bytes(bytes)
    }
  }
}
