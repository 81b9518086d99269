/// Text with U+0000, which PostgreSQL cannot store.
///
/// In tables that are created here, U+0000 is stored as U+0001 U+0001, and U+0001 as U+0001 U+0002.
/// The stored texts sort like the original ones. Other texts are stored unchanged.
enum PostgresText {
  private static let mark: UInt8 = 1

  /// Returns the stored form of a text.
  static func encoded(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 <= mark }) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte <= mark { bytes.append(mark) }
      bytes.append(byte <= mark ? byte + 1 : byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the text of a stored form. A U+0001 that does not begin a pair is not changed.
  static func decoded(_ stored: String) -> String {
    guard stored.utf8.contains(mark) else { return stored }
    var bytes: [UInt8] = []
    var rest = Array(stored.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == mark, let next = rest.first, next == 1 || next == 2 {
        bytes.append(next - 1)
        rest.removeFirst()
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the stored form of a text could be found in the middle of a pair.
  static func isAmbiguous(_ text: String) -> Bool { text.utf8.first.map { $0 <= 2 } ?? false }

  /// Returns a regular expression for stored texts that contain a text.
  static func pattern(containing text: String) -> String {
    var pattern = "^(?:[^\u{1}]|\u{1}[\u{1}\u{2}])*?"
    for scalar in encoded(text).unicodeScalars {
      if "\\.[]{}()*+?^$|".unicodeScalars.contains(scalar) { pattern += "\\" }
      pattern.unicodeScalars.append(scalar)
    }
    return pattern
  }
}
