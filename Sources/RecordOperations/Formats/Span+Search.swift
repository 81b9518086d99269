/// Sixteen bytes at a time: as many as the vectors of x86-64 and of ARM have in every machine.
private typealias Block = SIMD16<UInt8>
private typealias Hits = SIMDMask<SIMD16<Int8>>

extension Span<UInt8> {
  /// The first place at or after `start` that has one of three bytes; the end if there is none.
  ///
  /// - Complexity: O(the number of bytes that it passes).
  @inline(__always)
  func firstIndex(from start: Int, of one: UInt8, _ two: UInt8, _ three: UInt8) -> Int {
    firstIndex(from: start) { block in
      (block .== Block(repeating: one)) .| (block .== Block(repeating: two))
        .| (block .== Block(repeating: three))
    }
  }

  /// The first place that has one of four bytes; the end if there is none.
  @inline(__always)
  func firstIndex(of one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) -> Int {
    firstIndex(from: 0) { block in
      (block .== Block(repeating: one)) .| (block .== Block(repeating: two))
        .| (block .== Block(repeating: three)) .| (block .== Block(repeating: four))
    }
  }

  /// The first place at or after `start` with what no string of JSON has as it is: a quote, a backslash, a control
  /// character; the end if there is none.
  @inline(__always)
  func firstIndexToEscape(from start: Int) -> Int {
    firstIndex(from: start) { block in
      (block .== Block(repeating: .quote)) .| (block .== Block(repeating: .backslash))
        .| (block .< Block(repeating: .space))
    }
  }

  /// It as text; nil if it is not in UTF-8.
  var text: String? {
    // `String(validating:as:)` looks up types at run time, for each string anew.
    do { return String(copying: try UTF8Span(validating: self)) } catch { return nil }
  }

  /// Whether it is text in UTF-8. ASCII is seen at once.
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
    // Fewer than sixteen are left. They are looked at together with some that have been: those are no hits.
    let last = count &- 16
    if last >= start {
      return unsafe firstHit(isHit(load(last, as: Block.self))).map { last &+ $0 } ?? count
    }
    return firstIndexOfFew(from: start, where: isHit)
  }

  /// Fewer than sixteen bytes are twice eight or four of them, some of them twice.
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
    // Each byte of a mask is all ones or all zeros: the zeros at the end of a word count its bytes.
    let words = unsafe unsafeBitCast(hits, to: SIMD2<UInt64>.self)
    let first = UInt64(littleEndian: words[0])
    // Without a jump: which half it is cannot be guessed.
    let word = first != 0 ? first : UInt64(littleEndian: words[1])
    if word == 0 { return nil }
    return (first != 0 ? 0 : 8) &+ word.trailingZeroBitCount / 8
  }

  /// Bytes as one value. Any bytes are one of these types; that they are there is checked.
  @unsafe @inline(__always)
  private func load<Value: BitwiseCopyable>(_ index: Int, as type: Value.Type) -> Value {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: type)
  }
}
