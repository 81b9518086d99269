package import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A column of a table or a view. A class, because it is passed around for each value.
package final class SQLiteColumn: Sendable {
  package let name: String
  /// The quoted name.
  package let quoted: String
  /// The declared type, verbatim; empty if there is none.
  package let declaredType: String
  package let affinity: SQLiteAffinity
  /// The collation of its text: "BINARY" unless it is declared otherwise.
  package let collation: String
  /// Whether it is declared as `NOT NULL`.
  package let isRequired: Bool
  /// Its position in the primary key, from 1; 0 if it is not part of it.
  package let keyPosition: Int
  /// Whether `SELECT *` omits it.
  package let isHidden: Bool
  /// Whether its values are generated.
  package let isGenerated: Bool
  /// The meaning of its values.
  package let meaning: SQLiteMeaning
  /// Whether it stores every value unchanged.
  let storesAnyValue: Bool

  init(
    name: String, quoted: String, declaredType: String, affinity: SQLiteAffinity,
    collation: String, isRequired: Bool, keyPosition: Int, isHidden: Bool, isGenerated: Bool,
    meaning: SQLiteMeaning
  ) {
    self.name = name
    self.quoted = quoted
    self.declaredType = declaredType
    self.affinity = affinity
    self.collation = collation
    self.isRequired = isRequired
    self.keyPosition = keyPosition
    self.isHidden = isHidden
    self.isGenerated = isGenerated
    self.meaning = meaning
    storesAnyValue = declaredType.isEmpty || declaredType.uppercased() == "ANY"
  }

  package var isWritable: Bool { !isHidden && !isGenerated }
  /// Whether neither its type nor its meaning is declared.
  var isUntyped: Bool { declaredType.isEmpty && meaning == .plain }
}

/// The meaning of the values of a column, beyond the types of SQLite.
package enum SQLiteMeaning: Hashable, Sendable {
  /// Numbers, text and bytes.
  case plain
  /// Dates as text, in a column declared as `TEXT DATE`.
  case date
  /// Lists as JSON, in a column declared as `TEXT LIST`.
  case list
  /// Types and names of records, which need not exist, in a column declared as `TEXT REFERENCE`.
  case keptReference
  /// Keys of another table.
  case foreignKey(type: String, RecordReference.DeleteRule)
}

/// The type affinity of a column: the storage class to which SQLite converts its values.
package enum SQLiteAffinity: String, Hashable, Sendable {
  case integer = "INTEGER"
  case real = "REAL"
  case numeric = "NUMERIC"
  case text = "TEXT"
  /// Values are stored unchanged.
  case blob = "BLOB"

  /// Determines the affinity by the rules of <https://www.sqlite.org/datatype3.html>, in their
  /// order.
  package init(declaredType: String) {
    let type = declaredType.uppercased()
    let rules: [(String, SQLiteAffinity)] = [
      ("INT", .integer), ("CHAR", .text), ("CLOB", .text), ("TEXT", .text), ("BLOB", .blob),
      ("REAL", .real), ("FLOA", .real), ("DOUB", .real),
    ]
    // Without a type, values are stored unchanged. ANY is a type of STRICT tables, with the same
    // effect.
    self =
      declaredType.isEmpty || type == "ANY"
      ? .blob : rules.first { type.contains($0.0) }?.1 ?? .numeric
  }
}

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
