#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension [UInt8] {
  /// A fast, insecure hash of the bytes: eight bytes at a time are mixed by an odd multiplication
  /// and a shift.
  var hash64: UInt64 {
    var hash = UInt64(truncatingIfNeeded: count)
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    unsafe withUnsafeBytes { bytes in
      let whole = bytes.count & ~7
      for offset in stride(from: 0, to: whole, by: 8) {
        unsafe mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      for offset in whole..<bytes.count { unsafe mix(UInt64(bytes[offset])) }
    }
    return hash
  }

  /// Compares arrays by `memcmp`, which is faster than `==`.
  func isEqual(to other: [UInt8]) -> Bool {
    if count != other.count { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { others in
        guard let mine = mine.baseAddress, let others = others.baseAddress else { return true }
        return unsafe memcmp(mine, others, count) == 0
      }
    }
  }
}
