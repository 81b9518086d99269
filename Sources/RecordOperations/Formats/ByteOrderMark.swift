/// Leaves out the mark of UTF-8 that a file may begin with.
struct ByteOrderMark {
  static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  @inline(__always)
  static func begins(_ text: Span<UInt8>) -> Bool {
    text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
  }

  /// How many of its bytes have been there; nil once the file has begun.
  private var count: Int? = 0

  /// What has been held back of a file that may begin with it, and does not after all: a part of the mark.
  struct Beginning {
    var held = 0
    /// Where what is no mark begins in the piece.
    var start = 0
  }

  mutating func leaveOut(of piece: Span<UInt8>) -> Beginning {
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

  /// - Returns: What has been held back of a file that ends within the mark.
  mutating func finish() -> Int {
    defer { count = nil }
    return count ?? 0
  }
}
