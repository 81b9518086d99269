/// The names of tables and columns in statements.
///
/// This is the one way by which what comes from outside gets into the text of a statement. Values are bound.
package enum SQLiteName {
  /// A name between quotes, whatever is in it.
  ///
  /// - Throws: A ``RecordError`` if it has a NUL in it, at which SQLite would stop to read.
  package static func quoted(_ name: String) throws -> String {
    guard !name.utf8.contains(0) else {
      throw RecordError(.invalid("the name \(name.debugDescription) contains a NUL"))
    }
    return "\"" + doubling("\"", in: name) + "\""
  }

  /// A text as a literal, for triggers, which can have nothing bound.
  ///
  /// - Throws: A ``RecordError`` if it has a NUL in it, at which SQLite would stop to read.
  static func literal(_ text: String) throws -> String {
    guard !text.utf8.contains(0) else {
      throw RecordError(.invalid("the name \(text.debugDescription) contains a NUL"))
    }
    return "'" + doubling("'", in: text) + "'"
  }

  /// By scalars: a quote with an accent behind it is one character, and no quote to `String`.
  private static func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: quote)) else { return text }
    var doubled = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == quote { doubled.append(quote) }
      doubled.append(scalar)
    }
    return String(doubled)
  }

  /// A name as SQLite compares it with others: without regard to upper and lower case of the letters A to Z.
  static func folded(_ name: String) -> [UInt8] {
    name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
  }
}
