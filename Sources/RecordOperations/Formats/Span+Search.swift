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
    } orByte: {
      $0 == one || $0 == two || $0 == three
    }
  }

  /// The first place that has one of four bytes; the end if there is none.
  @inline(__always)
  func firstIndex(of one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) -> Int {
    firstIndex(from: 0) { block in
      (block .== Block(repeating: one)) .| (block .== Block(repeating: two))
        .| (block .== Block(repeating: three)) .| (block .== Block(repeating: four))
    } orByte: {
      $0 == one || $0 == two || $0 == three || $0 == four
    }
  }

  /// The first place at or after `start` with what no string of JSON has as it is: a quote, a backslash, a control
  /// character; the end if there is none.
  @inline(__always)
  func firstIndexToEscape(from start: Int) -> Int {
    firstIndex(from: start) { block in
      (block .== Block(repeating: .quote)) .| (block .== Block(repeating: .backslash))
        .| (block .< Block(repeating: .space))
    } orByte: {
      $0 == .quote || $0 == .backslash || $0 < .space
    }
  }

  /// Whether it is text in UTF-8. ASCII is seen at once.
  var isText: Bool {
    let end = firstIndex(from: 0) {
      $0 .>= Block(repeating: 0x80)
    } orByte: {
      $0 >= 0x80
    }
    return end == count || (try? UTF8Span(validating: extracting(end...))) != nil
  }

  @inline(__always)
  private func firstIndex(
    from start: Int, where isHit: (Block) -> Hits, orByte isHitByte: (UInt8) -> Bool
  ) -> Int {
    // Bytes have no padding.
    let bytes = unsafe self.bytes
    var index = start
    while index <= count - 16 {
      // Any sixteen bytes are a block, and the span checks that it has them.
      let block = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: Block.self)
      // Each byte of a mask is all ones or all zeros: the zeros at the end of a word count its bytes.
      let words = unsafe unsafeBitCast(isHit(block), to: SIMD2<UInt64>.self)
      let first = UInt64(littleEndian: words[0])
      // Without a jump: which half it is cannot be guessed.
      let word = first != 0 ? first : UInt64(littleEndian: words[1])
      if word != 0 { return index &+ (first != 0 ? 0 : 8) &+ word.trailingZeroBitCount / 8 }
      index += 16
    }
    while index < count {
      if isHitByte(self[index]) { return index }
      index += 1
    }
    return index
  }
}
