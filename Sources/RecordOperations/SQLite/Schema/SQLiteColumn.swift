/// A column of a table or a view.
package struct SQLiteColumn: Sendable {
  package let name: String
  /// It as statements have it.
  package let quoted: String
  /// The type that it was declared with, as it stands there; empty if there is none.
  package let declaredType: String
  package let affinity: SQLiteAffinity
  /// How texts in it are compared by its indexes: "BINARY" unless it says otherwise.
  package let collation: String
  /// Whether it is declared to have no nulls.
  package let isRequired: Bool
  /// Its place in the primary key, from 1; 0 if it is not part of it.
  package let keyPosition: Int
  /// Whether it is left out where all columns are asked for.
  package let isHidden: Bool
  /// Whether its values are computed.
  package let isGenerated: Bool
  /// What its values are for records.
  package let meaning: SQLiteMeaning

  package var isWritable: Bool { !isHidden && !isGenerated }
  /// Whether nobody has said what its values are.
  var isUntyped: Bool { declaredType.isEmpty && meaning == .plain }
}

/// What the values of a column are for records, beyond what SQLite knows.
package enum SQLiteMeaning: Hashable, Sendable {
  /// Numbers, texts and bytes.
  case plain
  /// Texts of moments: a column declared as `TEXT DATE`.
  case date
  /// JSON of lists: a column declared as `TEXT LIST`.
  case list
  /// Types and names of records, which need not be there: a column declared as `TEXT REFERENCE`.
  case keptReference
  /// Keys of another table.
  case foreignKey(type: String, RecordReference.DeleteRule)
}

/// Which class of values a column makes of what is put into it.
package enum SQLiteAffinity: String, Hashable, Sendable {
  case integer = "INTEGER"
  case real = "REAL"
  case numeric = "NUMERIC"
  case text = "TEXT"
  /// It takes everything as it is.
  case blob = "BLOB"

  /// By the rules of SQLite, in their order.
  package init(declaredType: String) {
    let type = declaredType.uppercased()
    let rules: [(String, SQLiteAffinity)] = [
      ("INT", .integer), ("CHAR", .text), ("CLOB", .text), ("TEXT", .text), ("BLOB", .blob),
      ("REAL", .real), ("FLOA", .real), ("DOUB", .real),
    ]
    // Without a type it takes everything. ANY is one of strict tables alone, where it does so, too.
    self =
      declaredType.isEmpty || type == "ANY"
      ? .blob : rules.first { type.contains($0.0) }?.1 ?? .numeric
  }
}
