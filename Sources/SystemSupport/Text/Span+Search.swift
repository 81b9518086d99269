/// The size of a SIMD vector that every x86-64 and ARM processor has: 16 bytes.
@usableFromInline typealias ByteBlock = SIMD16<UInt8>
@usableFromInline typealias ByteHits = SIMDMask<SIMD16<Int8>>

extension Span<UInt8> {
  /// Returns the first index at or after `start` with one of three bytes; the count if there is
  /// none.
  ///
  /// - Complexity: O(*n*) for *n* bytes from `start` to the index.
  @inlinable @inline(__always)
  package func firstIndex(from start: Int, of one: UInt8, _ two: UInt8, _ three: UInt8) -> Int {
    firstIndex(from: start) { block in
      (block .== ByteBlock(repeating: one)) .| (block .== ByteBlock(repeating: two))
        .| (block .== ByteBlock(repeating: three))
    }
  }

  /// Returns the first index with one of four bytes; the count if there is none.
  @inlinable @inline(__always)
  package func firstIndex(of one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) -> Int {
    firstIndex(from: 0) { block in
      (block .== ByteBlock(repeating: one)) .| (block .== ByteBlock(repeating: two))
        .| (block .== ByteBlock(repeating: three)) .| (block .== ByteBlock(repeating: four))
    }
  }

  /// Returns the first index at or after `start` with a byte that a JSON string must escape: a
  /// quote, a backslash or a control character. Returns the count if there is none.
  @inlinable @inline(__always)
  package func firstIndexToEscape(from start: Int) -> Int {
    firstIndex(from: start) { block in
      (block .== ByteBlock(repeating: .quote)) .| (block .== ByteBlock(repeating: .backslash))
        .| (block .< ByteBlock(repeating: .space))
    }
  }

  /// The bytes as a string; `nil` if they are not valid UTF-8.
  @inlinable package var text: String? {
    // `String(validating:as:)` looks up types at run time for each string.
    do { return String(copying: try UTF8Span(validating: self)) } catch { return nil }
  }

  /// Whether the bytes are valid UTF-8. An ASCII prefix is found without validation.
  @inlinable package var isText: Bool {
    let end = firstIndex(from: 0) { $0 .>= ByteBlock(repeating: 0x80) }
    return end == count || (try? UTF8Span(validating: extracting(end...))) != nil
  }

  @inlinable @inline(__always)
  func firstIndex(from start: Int, where isHit: (ByteBlock) -> ByteHits) -> Int {
    var index = start
    while index <= count - 16 {
      if let hit = unsafe firstHit(isHit(load(index, as: ByteBlock.self))) { return index &+ hit }
      index &+= 16
    }
    if index == count { return count }
    // Fewer than 16 bytes are left: load them with the bytes before them, which are no hits.
    let last = count &- 16
    if last >= start {
      return unsafe firstHit(isHit(load(last, as: ByteBlock.self))).map { last &+ $0 } ?? count
    }
    return firstIndexOfFew(from: start, where: isHit)
  }

  /// Searches fewer than 16 bytes, as two words of 8 or 4 bytes that may overlap.
  @inlinable @inline(__always)
  func firstIndexOfFew(from start: Int, where isHit: (ByteBlock) -> ByteHits) -> Int {
    let left = count &- start
    if left >= 8 {
      let words = unsafe SIMD2(
        load(start, as: UInt64.self), load(count &- 8, as: UInt64.self))
      guard let hit = firstHit(isHit(unsafe unsafeBitCast(words, to: ByteBlock.self))) else {
        return count
      }
      return hit < 8 ? start &+ hit : count &- 16 &+ hit
    }
    if left >= 4 {
      let one = unsafe load(start, as: UInt32.self)
      let two = unsafe load(count &- 4, as: UInt32.self)
      let words = SIMD4(one, two, one, two)
      guard let hit = firstHit(isHit(unsafe unsafeBitCast(words, to: ByteBlock.self))) else {
        return count
      }
      return hit < 4 ? start &+ hit : count &- 8 &+ hit
    }
    var index = start
    while index < count, firstHit(isHit(ByteBlock(repeating: self[index]))) == nil { index &+= 1 }
    return index
  }

  @inlinable @inline(__always)
  func firstHit(_ hits: ByteHits) -> Int? {
    // Each byte of a mask is all ones or all zeros, so trailing zero bits count whole bytes.
    let words = unsafe unsafeBitCast(hits, to: SIMD2<UInt64>.self)
    let first = UInt64(littleEndian: words[0])
    // Branchless, because the half is not predictable.
    let word = first != 0 ? first : UInt64(littleEndian: words[1])
    if word == 0 { return nil }
    return (first != 0 ? 0 : 8) &+ word.trailingZeroBitCount / 8
  }

  /// Loads bytes as one value. Any bytes are valid for these types, and the bounds are checked.
  @unsafe @inlinable @inline(__always)
  func load<Value: BitwiseCopyable>(_ index: Int, as type: Value.Type) -> Value {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: type)
  }
}
