// The functions for bytes are inlinable: without that, an import of JSON takes 10 % longer.
extension UInt8 {
  @inlinable package static var tab: UInt8 { UInt8(ascii: "\t") }
  @inlinable package static var lineFeed: UInt8 { UInt8(ascii: "\n") }
  @inlinable package static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
  @inlinable package static var space: UInt8 { UInt8(ascii: " ") }
  @inlinable package static var comma: UInt8 { UInt8(ascii: ",") }
  @inlinable package static var colon: UInt8 { UInt8(ascii: ":") }
  @inlinable package static var quote: UInt8 { UInt8(ascii: "\"") }
  @inlinable package static var backslash: UInt8 { UInt8(ascii: "\\") }
  @inlinable package static var openingBrace: UInt8 { UInt8(ascii: "{") }
  @inlinable package static var closingBrace: UInt8 { UInt8(ascii: "}") }
  @inlinable package static var openingBracket: UInt8 { UInt8(ascii: "[") }
  @inlinable package static var closingBracket: UInt8 { UInt8(ascii: "]") }
}

extension [UInt8] {
  /// Compares arrays by `memcmp`, which is faster than `==`.
  package func isEqual(to other: [UInt8]) -> Bool {
    if count != other.count { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { others in
        guard let mine = mine.baseAddress, let others = others.baseAddress else { return true }
        return unsafe memcmp(mine, others, count) == 0
      }
    }
  }

  /// Whether there is a zero at an index or after it, found by `memchr`, which is faster than
  /// `contains(_:)`.
  package func hasZero(from start: Int) -> Bool {
    precondition(0...count ~= start, "`start` must be at most \(count) (was \(start))")
    return unsafe withUnsafeBytes { bytes in
      guard let address = bytes.baseAddress else { return false }
      return unsafe memchr(address + start, 0, count - start) != nil
    }
  }

  @inlinable @inline(__always)
  package mutating func append(_ other: Span<UInt8>) {
    // Appending nothing to an empty array writes its count to storage that all empty arrays share,
    // which is a data race.
    if other.isEmpty { return }
    append(addingCapacity: other.count) { $0.append(other) }
  }
}

extension OutputSpan<UInt8> {
  @inlinable @inline(__always)
  package mutating func append(_ other: Span<UInt8>) {
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
