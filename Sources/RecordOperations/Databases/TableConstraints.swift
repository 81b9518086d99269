internal import SQLiteSupport
internal import SystemSupport

/// What a table demands of its rows, and what it puts into new ones, as far as another database can do the same.
package struct TableConstraints: Sendable {
  package struct Column: Sendable {
    package let name: String
    /// Whether it takes no null.
    package let isRequired: Bool
    /// The constant that it has in new rows without a value; nil for none.
    package let defaultValue: FieldValue?

    package init(name: String, isRequired: Bool, defaultValue: FieldValue?) {
      (self.name, self.isRequired, self.defaultValue) = (name, isRequired, defaultValue)
    }
  }

  /// Those with a constraint.
  package let columns: [Column]
  /// The lists of columns of which no two rows have the same values. Null is never the same.
  package let unique: [[String]]

  package init(columns: [Column], unique: [[String]]) {
    (self.columns, self.unique) = (columns, unique)
  }

  package static let none = TableConstraints(columns: [], unique: [])

  /// A text that is the same for the same constraints; empty for none.
  var text: String {
    get throws {
      let columns = try columns.map { try SQLiteName.quoted($0.name) + $0.clauses.text }
      let unique = try unique.map {
        try $0.map { try SQLiteName.quoted($0) }.joined(separator: ", ")
      }
      return (columns.sorted() + unique.sorted()).joined(separator: "; ")
    }
  }

  /// The constraints of a column in the definition of a table of SQLite.
  func clauses(of name: String) throws -> ColumnClauses {
    try columns.first { $0.name.hasSameBytes(as: name) }?.clauses ?? ColumnClauses()
  }
}

/// The constraints of a column in the definition of a table of SQLite.
struct ColumnClauses: Equatable {
  var isRequired = false
  /// The expression of the default; nil for none.
  var defaultText: String?

  /// The clauses, each with a leading space.
  var text: String {
    (isRequired ? " NOT NULL" : "") + (defaultText.map { " DEFAULT \($0)" } ?? "")
  }
}

extension TableConstraints.Column {
  fileprivate var clauses: ColumnClauses {
    get throws {
      ColumnClauses(isRequired: isRequired, defaultText: try defaultValue?.literal())
    }
  }
}
