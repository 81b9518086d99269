/// Splits bytes that arrive in pieces into lines.
struct LineSplitter {
  /// The maximum length of a line in bytes. A longer line is delivered in parts.
  private let limit: Int
  /// The start of an incomplete line.
  private var rest: [UInt8] = []

  init(limit: Int = 1 << 20) { self.limit = limit }

  /// - Returns: The complete lines, and parts of a line that is too long.
  mutating func append(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      if rest.isEmpty, end - start <= limit {
        lines.append(Self.text(bytes[start..<end]))
      } else {
        rest += bytes[start..<end]
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        cut(into: &lines)
        lines.append(String(decoding: rest, as: UTF8.self))
        rest = []
      }
      start = end + 1
    }
    rest += bytes[start...]
    // A carriage return may belong to the end of the line.
    cut(into: &lines, holding: rest.last == UInt8(ascii: "\r") ? 1 : 0)
    return lines
  }

  /// Delivers the start of a line that is too long, except for a number of bytes at its end.
  private mutating func cut(into lines: inout [String], holding held: Int = 0) {
    while rest.count - held > limit {
      let part = rest.prefix(partLength)
      lines.append(String(decoding: part, as: UTF8.self))
      rest.removeFirst(part.count)
    }
  }

  /// - Returns: The last line, if it has no line end, or its parts.
  mutating func finish() -> [String] {
    var lines: [String] = []
    cut(into: &lines)
    if !rest.isEmpty { lines.append(String(decoding: rest, as: UTF8.self)) }
    rest = []
    return lines
  }

  /// The limit, or up to 3 bytes less so that no character is split.
  private var partLength: Int {
    var length = limit
    while length > max(0, limit - 4), rest[length] & 0b1100_0000 == 0b1000_0000 { length -= 1 }
    // Bytes that are not UTF-8 are split anywhere.
    return length > max(0, limit - 4) ? length : limit
  }

  /// The text of a line, without a carriage return at its end.
  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
