internal import CPostgres

/// The address of a database: a connection string of libpq. Its description has no password.
struct PostgresAddress: Sendable, CustomStringConvertible {
  let text: String
  let description: String

  init(_ text: String) {
    self.text = text
    description = Self.withoutPasswords(text)
  }

  /// Whether the address has a password.
  var hasPassword: Bool { description != text }

  /// The address for a command line, without its passwords.
  var withoutPasswords: String {
    description.replacing(":***@", with: "@")
      .replacing(/(?i)([?&])\w*pass\w*=\*\*\*(&?)/) { $0.2.isEmpty ? "" : "\($0.1)" }
      .replacing(/(?i)\s*\w*pass\w*\s*=\s*\*\*\*/, with: "")
  }

  /// - Throws: A ``PostgresError`` if libpq cannot parse the address.
  func check() throws(PostgresError) {
    if text.utf8.contains(0) { throw invalid("it contains a NUL (U+0000)") }
    var message: UnsafeMutablePointer<CChar>?
    let options = unsafe PQconninfoParse(text, &message)
    defer {
      unsafe PQconninfoFree(options)
      unsafe PQfreemem(message)
    }
    guard unsafe options != nil else {
      // The message of libpq may quote any part of the address.
      let isSecret = description != text || text.contains("@")
      let reason = unsafe message.map { unsafe String(cString: $0) } ?? ""
      throw invalid(
        isSecret
          ? "use postgresql://USER@HOST/DATABASE or 'host=HOST dbname=DATABASE', with special "
            + "characters of a URI as %XX"
          : reason.split(whereSeparator: \.isNewline).joined(separator: " "))
    }
    // libpq takes the first '@' or '/' of a URI as the end of the password. The rest of the password
    // would then be part of names, and of messages.
    var next = unsafe options
    while let option = unsafe next, let key = unsafe option.pointee.keyword {
      let name = unsafe String(cString: key)
      if ["host", "port", "dbname"].contains(name), text.contains("://"),
        let value = unsafe option.pointee.val, unsafe String(cString: value).contains("@")
      {
        throw invalid("a '@' or '/' in the password must be written as %40 or %2F")
      }
      unsafe next = option + 1
    }
  }

  private func invalid(_ reason: String) -> PostgresError {
    PostgresError(
      .notConnected, code: "08001", "cannot connect to \(self): the address is invalid: \(reason)")
  }

  /// Returns an address with `***` in place of each password. It rather removes too much than too
  /// little if the address is invalid.
  private static func withoutPasswords(_ text: String) -> String {
    var text = text
    // user:password@host
    let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
    if text[..<start].contains("/") || !text.contains("="),
      let end = text.lastIndex(of: "@"), start <= end,
      let colon = text[start..<end].firstIndex(of: ":"),
      !text[start..<colon].contains("@")
    {
      text.replaceSubrange(text.index(after: colon)..<end, with: "***")
    }
    // password=…, password = '…', ?sslpassword=…, and names that libpq does not know, such as passwd=…
    return text.replacing(/(?i)(pass(?!file)\w*\s*=\s*)('(?:[^'\\]|\\.)*('|$)|[^\s&]+)/) {
      "\($0.1)***"
    }
  }
}
