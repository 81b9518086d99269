/// Text in the syntax of the shell.
package enum ShellText {
  /// Returns bytes as text on one line. They are quoted in the syntax of the shell, `$'a\nb'`, if they
  /// are not UTF-8, or have characters that break the line, reorder it or control the terminal.
  package static func escaped(_ bytes: some Sequence<UInt8>, utf8 text: String?) -> String {
    if let text, !text.hasPrefix("$'"), !text.unicodeScalars.contains(where: isUnruly) {
      return text
    }
    return "$'" + bytes.map(quoted).joined() + "'"
  }

  private static func isUnruly(_ character: UnicodeScalar) -> Bool {
    switch character.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  private static func quoted(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\n"): "\\n"
    case UInt8(ascii: "\t"): "\\t"
    case UInt8(ascii: "\r"): "\\r"
    case UInt8(ascii: "'"): "\\'"
    case UInt8(ascii: "\\"): "\\\\"
    case 0x20..<0x7F: String(UnicodeScalar(byte))
    default: "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
  }
}

extension String {
  /// The text on one line, as ``ShellText/escaped(_:utf8:)`` returns it.
  package var escapedForShell: String { ShellText.escaped(utf8, utf8: self) }

  /// The text as one word of a shell.
  package var quotedForShell: String {
    let text = escapedForShell
    if text.hasPrefix("$'") { return text }
    let isPlain = utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-_./:@%+,".utf8.contains(byte)
      }
    }
    if isPlain, !isEmpty { return self }
    // By bytes, because a quote can be the first part of a character.
    let parts = utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
  }
}
