/// Quotes names of tables and columns for statements.
///
/// This is the only way for external text into a statement. Values are bound.
package enum SQLiteName {
  /// Returns a quoted name.
  ///
  /// - Throws: A ``SQLiteError`` if it contains a NUL, at which SQLite would stop reading.
  package static func quoted(_ name: String) throws -> String {
    try check(name)
    return "\"" + doubling("\"", in: name) + "\""
  }

  /// Returns a string literal, for triggers, which cannot have bound values.
  ///
  /// - Throws: A ``SQLiteError`` if it contains a NUL, at which SQLite would stop reading.
  package static func literal(_ text: String) throws -> String {
    try check(text)
    return "'" + doubling("'", in: text) + "'"
  }

  /// Returns a blob literal, for expressions without bound values.
  package static func literal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF")
    return bytes.reduce(into: "x'") {
      $0.append(digits[Int($1 >> 4)])
      $0.append(digits[Int($1 & 15)])
    } + "'"
  }

  private static func check(_ name: String) throws(SQLiteError) {
    guard name.utf8.contains(0) else { return }
    throw SQLiteError(
      .invalidName, "the name \(name.debugDescription) contains a NUL", file: "")
  }

  /// Works on scalars: for `String`, a quote followed by a combining accent is a different
  /// character.
  private static func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: quote)) else { return text }
    var doubled = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == quote { doubled.append(quote) }
      doubled.append(scalar)
    }
    return String(doubled)
  }

  /// Returns a name in the form that SQLite compares: with the letters A to Z in lower case.
  package static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
  }
}
