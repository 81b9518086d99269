extension UInt8 {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let comma = UInt8(ascii: ",")
  static let colon = UInt8(ascii: ":")
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let openingBrace = UInt8(ascii: "{")
  static let closingBrace = UInt8(ascii: "}")
  static let openingBracket = UInt8(ascii: "[")
  static let closingBracket = UInt8(ascii: "]")
}

extension [UInt8] {
  @inline(__always)
  mutating func append(_ other: Span<UInt8>) {
    // Appending nothing to an empty array writes its count to storage that all empty arrays share,
    // which is a data race.
    if other.isEmpty { return }
    append(addingCapacity: other.count) { $0.append(other) }
  }
}

extension OutputSpan<UInt8> {
  @inline(__always)
  mutating func append(_ other: Span<UInt8>) {
    let count = other.count
    precondition(
      count <= freeCapacity,
      "`other` must have at most \(freeCapacity) bytes, the free capacity (was \(count))")
    // The capacity is checked above, and exclusive access keeps the source and the target apart.
    unsafe other.withUnsafeBytes { bytes in
      unsafe withUnsafeMutableBufferPointer { buffer, initializedCount in
        guard let source = bytes.baseAddress, let target = buffer.baseAddress else {
          return
        }
        unsafe UnsafeMutableRawPointer(target + initializedCount)
          .copyMemory(from: source, byteCount: count)
        initializedCount += count
      }
    }
  }
}
