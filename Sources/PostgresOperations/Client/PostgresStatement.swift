/// An SQL statement, which each connection prepares once.
///
/// The SQL is literal text of this package and names quoted by ``PostgresName``; values are
/// parameters.
package struct PostgresStatement: Sendable, Hashable {
  /// A name for error messages.
  package let name: String
  package let sql: String

  package init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }
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
}
