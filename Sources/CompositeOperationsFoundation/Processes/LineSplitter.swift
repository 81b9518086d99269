/// Makes lines of bytes that come in pieces.
struct LineSplitter {
  /// How long a line may be before it is handed over in parts, in bytes.
  private let limit: Int
  /// The beginning of a line whose end has not come.
  private var rest: [UInt8] = []

  init(limit: Int = 1 << 20) { self.limit = limit }

  /// - Returns: The lines that have come to their end, and parts of one that is too long.
  mutating func append(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      if rest.isEmpty {
        lines.append(Self.text(bytes[start..<end]))
      } else {
        rest += bytes[start..<end]
        lines.append(Self.text(rest[...]))
        rest = []
      }
      start = end + 1
    }
    rest += bytes[start...]
    while rest.count > limit {
      let part = rest.prefix(partLength)
      lines.append(String(decoding: part, as: UTF8.self))
      rest.removeFirst(part.count)
    }
    return lines
  }

  /// - Returns: The last line, if it has no end.
  mutating func finish() -> [String] {
    defer { rest = [] }
    return rest.isEmpty ? [] : [String(decoding: rest, as: UTF8.self)]
  }

  /// The limit, or a little less so that no character is broken.
  private var partLength: Int {
    var length = limit
    while length > max(0, limit - 4), rest[length] & 0b1100_0000 == 0b1000_0000 { length -= 1 }
    // What is no text at all is cut anywhere.
    return length > max(0, limit - 4) ? length : limit
  }

  /// Without the carriage return before the line feed.
  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
