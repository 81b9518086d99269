internal import SystemSupport

/// An SQL statement, which each connection prepares once if it is reused.
///
/// The SQL is literal text of this package and names quoted by ``PostgresName``; values are
/// parameters.
package struct PostgresStatement: Sendable, Hashable {
  /// A name for error messages.
  package let name: String
  package let sql: String
  /// Whether a connection prepares it.
  package let isReused: Bool

  /// - Parameter isReused: False for a statement that may occur only once, such as a query.
  package init(_ name: String, _ sql: String, isReused: Bool = true) {
    self.name = name
    self.sql = sql
    self.isReused = isReused
  }
}

// Compared byte by byte: the names of tables can differ although `String` considers them equal.
extension PostgresStatement {
  package static func == (one: PostgresStatement, other: PostgresStatement) -> Bool {
    one.sql.hasSameBytes(as: other.sql) && one.isReused == other.isReused && one.name == other.name
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(sql) }
}

/// Names of tables and columns.
package enum PostgresName {
  /// Returns a name in double quotes.
  package static func quoted(_ name: String) -> String {
    var text = "\""
    for character in name.unicodeScalars {
      if character == "\"" { text += "\"" }
      text.unicodeScalars.append(character)
    }
    return text + "\""
  }

  /// Returns a text as a literal, for statements that take no parameters.
  package static func literal(_ text: String) -> String {
    var literal = "E'"
    for character in text.unicodeScalars {
      if character == "'" || character == "\\" { literal.unicodeScalars.append(character) }
      literal.unicodeScalars.append(character)
    }
    return literal + "'"
  }
}
