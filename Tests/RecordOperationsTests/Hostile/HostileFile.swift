import RecordOperations
import Testing

/// A file that is imported into the table `T (a, b TEXT, n INTEGER)`, and the expected result.
struct HostileFile: CustomTestStringConvertible {
  enum Expectation {
    /// This number of rows is imported, and the rows that begin on these lines are bad.
    case rows(Int, bad: [Int] = [])
    /// A part of the text of the error.
    case error(String)
  }

  let name: String
  let format: ImportFormat
  let bytes: [UInt8]
  let expectation: Expectation

  var testDescription: String { name }

  private init(_ name: String, _ format: ImportFormat, _ bytes: [UInt8], _ expectation: Expectation)
  {
    (self.name, self.format, self.bytes, self.expectation) = (name, format, bytes, expectation)
  }

  private static func csv(
    _ name: String, _ text: String, _ expectation: Expectation
  ) -> HostileFile {
    HostileFile("CSV: \(name)", .csv, Array(text.utf8), expectation)
  }

  private static func csv(
    _ name: String, bytes: [UInt8], _ expectation: Expectation
  ) -> HostileFile {
    HostileFile("CSV: \(name)", .csv, bytes, expectation)
  }

  private static func json(
    _ name: String, _ text: String, _ expectation: Expectation
  ) -> HostileFile {
    HostileFile("JSON: \(name)", .json, Array(text.utf8), expectation)
  }

  private static func lines(
    _ name: String, _ text: String, _ expectation: Expectation
  ) -> HostileFile {
    HostileFile("JSON Lines: \(name)", .jsonLines, Array(text.utf8), expectation)
  }

  static let all = texts + structures + bytes + headers + arrays + objects + statements

  private static let texts = [
    csv("empty", "", .error("it is empty")), csv("a line feed", "\n", .error("it is empty")),
    csv("a hundred thousand empty lines", String(repeating: "\n", count: 100_000), .error("empty")),
    csv("only a header", "a,b", .rows(0)),
    csv("a header and empty lines", "a,b\n\n\r\n\r", .rows(0)),
    csv("a NUL in a text", "a,b\nx\0y,\0\n", .rows(1)),
    csv("a NUL in a number", "n\n1\02\n", .rows(0, bad: [2])),
    csv("quotes and line endings", "a,b\n\"a\"\"b\r\n\",\"\n\"\n", .rows(1)),
    csv("a comma at the end", "a,b\n1,2,\n1,2\n", .rows(1, bad: [2])),
    csv("rows of different lengths", "a,b\n1\n1,2\n1,2,3\n,\n", .rows(2, bad: [2, 4])),
    csv("spaces", "a,b\n  , \" x\" \n x ,y\n", .rows(2)),
    csv(
      "a cell of ten million characters", "a,b\n\(String(repeating: "x", count: 10_000_000)),1\n",
      .rows(1)),
    csv(
      "a quoted cell of a million line feeds",
      "a\n\"\(String(repeating: "\n", count: 1_000_000))\"\n",
      .rows(1)),
    csv(
      "a cell of a million quotes", "a\n\"\(String(repeating: "\"\"", count: 1_000_000))\"\n",
      .rows(1)),
    csv("emoji and combining marks", "a,b\n👩‍👩‍👧‍👦,e\u{301}\u{200d}\n\u{202e}rtl,\u{feff}\n", .rows(2)),
    csv("only carriage returns", "a,b\r1,2\r3,4", .rows(2)),
    csv("the largest integer", "n\n9223372036854775807\n-9223372036854775808\n", .rows(2)),
    csv("a larger integer", "n\n9223372036854775808\n1e19\n", .rows(0, bad: [2, 3])),
    csv("invalid integers", "n\n0x10\n1_000\n１\n--1\n+\n-\n.\ne\n", .rows(0, bad: Array(2...9))),
    csv("integers in other forms", "n\n 7 \n+7\n7.0\n7e0\n007\n-0\n", .rows(6)),
    csv("words in place of numbers", "n\nnan\ninf\nNULL\ntrue\n", .rows(0, bad: [2, 3, 4, 5])),
  ]

  private static let structures = [
    csv("an unclosed quote", "a,b\n1,2\n\"3,4\n5,6\n", .rows(1, bad: [3])),
    csv("text after a quote", "a,b\n\"1\"x,2\n3,4\n", .rows(1, bad: [2])),
    csv("quotes within a cell", "a,b\n1\"2,\"3\"\n", .rows(1)),
    csv("a single quote at the end", "a\n1\n\"", .rows(1, bad: [3])),
    csv("another delimiter", "a;b\n1;2\n", .error("Set the delimiter to semicolon")),
    csv("one column too many", "a,b,c\n1,2,3\n", .error("no column \"c\"")),
    csv(
      "five thousand columns", (0..<5_000).map { "c\($0)" }.joined(separator: ",") + "\n",
      .error("no column \"c0\"")),
    csv(
      "a row of a million cells", "a,b\n\(String(repeating: ",", count: 999_999))\n1,2\n",
      .rows(1, bad: [2])),
    csv(
      "a line of a million characters without an ending",
      "a\n" + String(repeating: "y", count: 1_000_000),
      .rows(1)),
    csv(
      "a thousand bad rows among good ones", "a,b\n" + String(repeating: "1,2\n1\n", count: 1_000),
      .rows(1_000, bad: (0..<1_000).map { 3 + 2 * $0 })),
    csv("the end in the middle of a line ending", "a,b\n1,2\r", .rows(1)),
  ]

  private static let bytes = [
    csv("a UTF-8 byte order mark", bytes: [0xEF, 0xBB, 0xBF] + Array("a,b\n1,2\n".utf8), .rows(1)),
    csv(
      "two UTF-8 byte order marks",
      bytes: [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array("a\n1\n".utf8),
      .error("no column")),
    csv("an incomplete UTF-8 byte order mark", bytes: [0xEF, 0xBB], .error("not UTF-8")),
    csv(
      "UTF-16",
      bytes: [0xFF, 0xFE] + "a,b\n1,2\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
      .rows(1)),
    csv(
      "UTF-16 without a byte order mark",
      bytes: "a,b\n1,2\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
      .error("looks like UTF-16LE")),
    csv("an incomplete UTF-16 byte order mark", bytes: [0xFF], .error("not UTF-8")),
    csv("only a UTF-16 byte order mark", bytes: [0xFE, 0xFF], .error("it is empty")),
    csv(
      "an incomplete UTF-16 code unit", bytes: [0xFF, 0xFE, 0x61, 0, 0x0A, 0, 0x61],
      .rows(0, bad: [2])),
    csv(
      "Latin 1 in a text", bytes: Array("b\n".utf8) + [0xE9] + Array("\nx\n".utf8),
      .rows(1, bad: [2])),
    csv(
      "Latin 1 in a column without a type", bytes: Array("a\n".utf8) + [0xE9, 0x0A],
      .rows(0, bad: [2])),
    csv(
      "Latin 1 in the header", bytes: Array("a,".utf8) + [0xE9] + Array("\n1,2\n".utf8),
      .error("not UTF-8")),
    csv(
      "an incomplete character at the end", bytes: Array("b\nx".utf8) + [0xE2, 0x82],
      .rows(0, bad: [2])),
    csv("a surrogate", bytes: Array("b\n".utf8) + [0xED, 0xA0, 0x80, 0x0A], .rows(0, bad: [2])),
    csv(
      "an overlong encoding of a slash", bytes: Array("b\n".utf8) + [0xC0, 0xAF, 0x0A],
      .rows(0, bad: [2])),
    csv(
      "every byte value", bytes: (0...255).map { UInt8($0) }, .error("Set the delimiter to tab")),
    csv(
      "a gzip file", bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0xD4, 0x49, 0xE2, 0x02, 0],
      .error("not UTF-8")),
    csv(
      "a database", bytes: Array("SQLite format 3\0".utf8) + [16, 0, 1, 1, 0, 64, 32, 32, 0, 0],
      .error("no column")),
    csv("zeros", bytes: [UInt8](repeating: 0, count: 100_000), .error("no column")),
  ]

  private static let headers = [
    csv("a duplicate column", "a,b,a\n1,2,3\n", .error("twice")),
    csv("a duplicate column in capitals", "a,A\n1,2\n", .error("twice")),
    csv("a column in capitals", "A\n1\n", .error("no column \"A\"")),
    csv("an empty name", "a,\n1,2\n", .error("column 2 has no name")),
    csv("names in quotes", "\"a\",\"b\"\n1,2\n", .rows(1)),
    csv("SQL as a name", "\"a) VALUES (1); DROP TABLE Sacred; --\"\n1\n", .error("no column")),
    csv("a quote in a name", "\"a\"\"\"\n1\n", .error("no column")),
    csv("rowid as a name", "rowid,a\n1,2\n", .error("no column \"rowid\"")),
    csv(
      "a name of a thousand characters", String(repeating: "x", count: 1_000) + "\n1\n",
      .error("no column")),
  ]

  private static let arrays = [
    json("empty", "", .rows(0, bad: [1])), json("no objects", "[]", .rows(0)),
    json("an object", "{\"a\":1}", .error("expected an array of objects")),
    json("a number", "1", .error("expected an array of objects")),
    json("truncated", "[{\"a\":1},{\"a\":", .rows(1, bad: [1])),
    json("truncated in a string", "[{\"a\":1},\n{\"a\":\"x", .rows(1, bad: [2])),
    json("not closed", "[{\"a\":1}", .rows(1, bad: [1])),
    json("closed twice", "[{\"a\":1}]]", .error("expected the end of the file after the array")),
    json("an extra comma", "[{\"a\":1},]", .rows(1, bad: [1])),
    json("a missing comma", "[{\"a\":1}{\"a\":2}]", .rows(1, bad: [1])),
    json("other values", "[1,\"a\",null,[],{\"a\":1}]", .rows(1, bad: [1, 1, 1, 1])),
    json("a comment", "[/* x */{\"a\":1}]", .rows(0, bad: [1])),
    json(
      "a hundred thousand brackets", String(repeating: "[", count: 100_000), .rows(0, bad: [1])),
    json(
      "text after the array", "[{\"a\":1}] x",
      .error("expected the end of the file after the array")),
    json("single quotes", "[{'a':1}]", .rows(0, bad: [1])),
  ]

  private static let objects = [
    lines("a duplicate key", "{\"a\":1,\"a\":2}\n{\"a\":3}", .rows(1, bad: [1])),
    lines("no keys", "{}\n{\"a\":1}", .rows(1, bad: [1])),
    lines("an empty key", "{\"\":1}", .rows(0, bad: [1])),
    lines("a key with a NUL", "{\"a\\u0000\":1}", .rows(0, bad: [1])),
    lines("a NUL in a text", "{\"b\":\"x\\u0000y\"}", .rows(1)),
    lines(
      "half a surrogate pair", "{\"b\":\"\\ud83d\"}\n{\"b\":\"\\ud83d\\ude00\"}", .rows(1, bad: [1])
    ),
    lines(
      "not a number", "{\"n\":NaN}\n{\"n\":Infinity}\n{\"n\":-}\n{\"n\":01}\n{\"n\":1.}",
      .rows(0, bad: [1, 2, 3, 4, 5])),
    lines(
      "numbers too large", "{\"n\":9223372036854775808}\n{\"a\":1e999}", .rows(0, bad: [1, 2])),
    lines(
      "fractions in place of integers", "{\"n\":1.0}\n{\"n\":1.5}\n{\"n\":1e2}", .rows(2, bad: [2])),
    lines(
      "nested objects", "{\"a\":{\"b\":1}}\n{\"a\":[[1]]}\n{\"a\":[1]}",
      .rows(0, bad: [1, 2, 3])),
    lines(
      "numbers in place of texts", "{\"b\":1}\n{\"b\":true}\n{\"b\":null}", .rows(1, bad: [1, 2])),
    lines(
      "a deeply nested object", String(repeating: "{\"a\":", count: 10_000) + "1",
      .rows(0, bad: [1])),
    lines(
      "a text of ten million characters",
      "{\"b\":\"\(String(repeating: "x", count: 10_000_000))\"}", .rows(1)),
    lines(
      "keys in different orders", "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n{\"b\":\"z\"}",
      .rows(3)),
    lines("a control character", "{\"b\":\"\u{1}\"}", .rows(0, bad: [1])),
    lines("an invalid escape", "{\"b\":\"\\x41\"}", .rows(0, bad: [1])),
  ]

  /// Cells that would have an effect if they became part of a statement.
  private static let statements = [
    "'); DROP TABLE Sacred; --", "\"); DROP TABLE Sacred; --", "1); DELETE FROM Sacred; --",
    "' || (SELECT group_concat(x) FROM Sacred) || '", "'; ATTACH 'x' AS y; --", "?1", ":a", "@a",
    "$a",
    "x'00'", "/* */", "`a`", "[a]", "%s%n", "\\'; DELETE FROM Sacred; --",
    "';PRAGMA writable_schema=1;",
    "load_extension('x')", "=cmd|' /C calc'!A0",
  ].map { text in
    csv(
      "the cell \(text)",
      "a,b\n\"\(text.replacing("\"", with: "\"\""))\",\"\(text.replacing("\"", with: "\"\""))\"\n",
      .rows(1))
  }
}
