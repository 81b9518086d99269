internal import SystemSupport

/// What a table demands of its rows, and what it puts into new ones, as far as another database can do the same.
package struct TableConstraints: Sendable {
  package struct Column: Sendable {
    package let name: String
    /// Whether it is NOT NULL.
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

  /// The constraints of a column in the definition of a table of SQLite.
  func clauses(of name: String) throws -> ColumnClauses {
    guard let column = columns.first(where: { $0.name.hasSameBytes(as: name) }) else {
      return ColumnClauses()
    }
    return ColumnClauses(
      isRequired: column.isRequired, defaultText: try column.defaultValue?.literal())
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
