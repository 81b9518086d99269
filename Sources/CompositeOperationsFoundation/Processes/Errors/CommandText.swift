internal import SystemSupport

/// A command in the syntax of a shell, for display. Long commands are truncated.
struct CommandText: CustomStringConvertible {
  let description: String

  init(_ program: String, _ arguments: [[UInt8]]) {
    var words: [String] = []
    var length = 0
    for word in [Array(program.utf8)] + arguments {
      // A longer text would not be read.
      if length > 400 {
        words.append("…")
        break
      }
      words.append(Self.quoted(word))
      length += words.last?.utf8.count ?? 0
    }
    description = words.joined(separator: " ")
  }

  private static func quoted(_ word: [UInt8]) -> String {
    if let text = String(validating: word, as: UTF8.self) { return quoted(text) }
    return ShellText.escaped(word.prefix(100), utf8: nil) + (word.count > 100 ? "…" : "")
  }

  static func quoted(_ word: String) -> String {
    let isCut = word.unicodeScalars.count > 100
    let scalars = word.unicodeScalars.prefix(isCut ? 99 : 100)
    let end = isCut ? "…" : ""
    if scalars.contains(where: isUnruly) {
      return "$'" + scalars.map(escaped).joined() + end + "'"
    }
    let text = String(String.UnicodeScalarView(scalars)) + end
    if !text.isEmpty, scalars.allSatisfy(isPlain) { return text }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: #"'\''"#) + "'"
  }

  private static func isPlain(_ scalar: UnicodeScalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      || "_@%+=:,./-".unicodeScalars.contains(scalar)
  }

  /// Whether the character would break the line or control the terminal.
  private static func isUnruly(_ scalar: UnicodeScalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  private static func escaped(_ scalar: UnicodeScalar) -> String {
    switch scalar {
    case "\n": #"\n"#
    case "\t": #"\t"#
    case "\r": #"\r"#
    case "'": #"\'"#
    case #"\"#: #"\\"#
    case _ where isUnruly(scalar):
      String(scalar).utf8.map { byte in
        #"\x"# + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
    default: String(scalar)
    }
  }
}
