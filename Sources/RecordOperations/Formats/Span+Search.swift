/// The size of a SIMD vector that every x86-64 and ARM processor has: 16 bytes.
private typealias Block = SIMD16<UInt8>
private typealias Hits = SIMDMask<SIMD16<Int8>>

extension Span<UInt8> {
  /// Returns the first index at or after `start` with one of three bytes; the count if there is
  /// none.
  ///
  /// - Complexity: O(*n*) for *n* bytes from `start` to the index.
  @inline(__always)
  func firstIndex(from start: Int, of one: UInt8, _ two: UInt8, _ three: UInt8) -> Int {
    firstIndex(from: start) { block in
      (block .== Block(repeating: one)) .| (block .== Block(repeating: two))
        .| (block .== Block(repeating: three))
    }
  }

  /// Returns the first index with one of four bytes; the count if there is none.
  @inline(__always)
  func firstIndex(of one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) -> Int {
    firstIndex(from: 0) { block in
      (block .== Block(repeating: one)) .| (block .== Block(repeating: two))
        .| (block .== Block(repeating: three)) .| (block .== Block(repeating: four))
    }
  }

  /// Returns the first index at or after `start` with a byte that a JSON string must escape: a
  /// quote, a backslash or a control character. Returns the count if there is none.
  @inline(__always)
  func firstIndexToEscape(from start: Int) -> Int {
    firstIndex(from: start) { block in
      (block .== Block(repeating: .quote)) .| (block .== Block(repeating: .backslash))
        .| (block .< Block(repeating: .space))
    }
  }

  /// The bytes as a string; `nil` if they are not valid UTF-8.
  var text: String? {
    // `String(validating:as:)` looks up types at run time for each string.
    do { return String(copying: try UTF8Span(validating: self)) } catch { return nil }
  }

  /// Whether the bytes are valid UTF-8. An ASCII prefix is found without validation.
  var isText: Bool {
    let end = firstIndex(from: 0) { $0 .>= Block(repeating: 0x80) }
    return end == count || (try? UTF8Span(validating: extracting(end...))) != nil
  }

  @inline(__always)
  private func firstIndex(from start: Int, where isHit: (Block) -> Hits) -> Int {
    var index = start
    while index <= count - 16 {
      if let hit = unsafe firstHit(isHit(load(index, as: Block.self))) { return index &+ hit }
      index &+= 16
    }
    if index == count { return count }
    // Fewer than 16 bytes are left: load them with the bytes before them, which are no hits.
    let last = count &- 16
    if last >= start {
      return unsafe firstHit(isHit(load(last, as: Block.self))).map { last &+ $0 } ?? count
    }
    return firstIndexOfFew(from: start, where: isHit)
  }

  /// Searches fewer than 16 bytes, as two words of 8 or 4 bytes that may overlap.
  @inline(__always)
  private func firstIndexOfFew(from start: Int, where isHit: (Block) -> Hits) -> Int {
    let left = count &- start
    if left >= 8 {
      let words = unsafe SIMD2(
        load(start, as: UInt64.self), load(count &- 8, as: UInt64.self))
      guard let hit = firstHit(isHit(unsafe unsafeBitCast(words, to: Block.self))) else {
        return count
      }
      return hit < 8 ? start &+ hit : count &- 16 &+ hit
    }
    if left >= 4 {
      let one = unsafe load(start, as: UInt32.self)
      let two = unsafe load(count &- 4, as: UInt32.self)
      let words = SIMD4(one, two, one, two)
      guard let hit = firstHit(isHit(unsafe unsafeBitCast(words, to: Block.self))) else {
        return count
      }
      return hit < 4 ? start &+ hit : count &- 8 &+ hit
    }
    var index = start
    while index < count, firstHit(isHit(Block(repeating: self[index]))) == nil { index &+= 1 }
    return index
  }

  @inline(__always)
  private func firstHit(_ hits: Hits) -> Int? {
    // Each byte of a mask is all ones or all zeros, so trailing zero bits count whole bytes.
    let words = unsafe unsafeBitCast(hits, to: SIMD2<UInt64>.self)
    let first = UInt64(littleEndian: words[0])
    // Branchless, because the half is not predictable.
    let word = first != 0 ? first : UInt64(littleEndian: words[1])
    if word == 0 { return nil }
    return (first != 0 ? 0 : 8) &+ word.trailingZeroBitCount / 8
  }

  /// Loads bytes as one value. Any bytes are valid for these types, and the bounds are checked.
  @unsafe @inline(__always)
  private func load<Value: BitwiseCopyable>(_ index: Int, as type: Value.Type) -> Value {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: type)
  }
}
