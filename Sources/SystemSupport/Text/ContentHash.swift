/// SHA-256 (FIPS 180-4) of bytes that are appended one block after another.
///
/// It identifies contents: two different ones do not have the same hash by accident.
package struct ContentHash: Sendable {
  private var state: InlineArray<8, UInt32> = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  /// The bytes after the last complete chunk.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  private static let chunkSize = 64

  package init() {}

  package mutating func append(_ bytes: Span<UInt8>) {
    count &+= UInt64(bytes.count)
    var start = 0
    while start < bytes.count {
      if rest.isEmpty, bytes.count - start >= Self.chunkSize {
        add(bytes, from: start)
        start += Self.chunkSize
      } else {
        let end = min(bytes.count, start + Self.chunkSize - rest.count)
        rest.append(bytes.extracting(start..<end))
        start = end
        if rest.count == Self.chunkSize {
          let chunk = rest
          rest = []
          add(chunk.span, from: 0)
        }
      }
    }
  }

  /// The hash of all bytes in 64 hexadecimal digits.
  package var text: String {
    var hash = self
    let zeros = (119 - Int(count % 64)) % 64
    var end: [UInt8] = [0x80] + [UInt8](repeating: 0, count: zeros)
    for shift in stride(from: 56, through: 0, by: -8) {
      end.append(UInt8(truncatingIfNeeded: (count &* 8) >> UInt64(shift)))
    }
    hash.append(end.span)
    var text: [UInt8] = []
    for index in hash.state.indices {
      for shift in stride(from: 28, through: 0, by: -4) {
        text.append(Self.digits[Int(hash.state[index] >> UInt32(shift)) & 15])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let digits = Array("0123456789abcdef".utf8)

  /// Adds a chunk of 64 bytes.
  private mutating func add(_ bytes: Span<UInt8>, from start: Int) {
    var words = InlineArray<64, UInt32>(repeating: 0)
    for index in 0..<16 {
      let at = start + 4 * index
      words[index] =
        UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8
        | UInt32(bytes[at + 3])
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = early.rotated(7) ^ early.rotated(18) ^ early >> 3
      let second = late.rotated(17) ^ late.rotated(19) ^ late >> 10
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let first = e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)
      let choice = e & f ^ ~e & g
      let one = h &+ first &+ choice &+ Self.constants[index] &+ words[index]
      let second = a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)
      let two = second &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static let constants: InlineArray<64, UInt32> = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
    0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
    0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
    0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
    0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}

extension UInt32 {
  /// The bits rotated to the right.
  fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
