/// A filter that removes the UTF-8 byte order mark at the beginning of a file.
struct ByteOrderMark {
  static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  @inline(__always)
  static func begins(_ text: Span<UInt8>) -> Bool {
    text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
  }

  /// The number of bytes of the mark that were read; `nil` after the beginning of the file.
  private var count: Int? = 0

  /// The result of filtering a piece of the file.
  struct Beginning {
    /// The number of bytes of the mark that were held back and turned out to be content.
    var held = 0
    /// The index in the piece at which the content begins.
    var start = 0
  }

  mutating func remove(from piece: Span<UInt8>) -> Beginning {
    guard var count else { return Beginning() }
    var start = 0
    while start < piece.count, count < Self.bytes.count {
      guard piece[start] == Self.bytes[count] else {
        self.count = nil
        return Beginning(held: count, start: start)
      }
      start += 1
      count += 1
    }
    self.count = count == Self.bytes.count ? nil : count
    return Beginning(start: start)
  }

  /// - Returns: The number of bytes that were held back, if the file ends within the mark.
  mutating func finish() -> Int {
    defer { count = nil }
    return count ?? 0
  }
}
