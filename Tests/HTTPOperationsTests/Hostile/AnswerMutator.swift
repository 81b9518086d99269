import CompositeOperations

/// Changes the bytes of responses at random.
struct AnswerMutator {
  private let originals: [[UInt8]]
  private var random: OperationRandomness

  init(_ originals: [[UInt8]], seed: UInt64) {
    self.originals = originals
    random = .seeded(seed)
  }

  /// A response with one to four changes.
  mutating func next() -> [UInt8] {
    var bytes = original()
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty { change(&bytes) }
    return bytes
  }

  private mutating func original() -> [UInt8] {
    originals[Int.random(in: originals.indices, using: &random)]
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let position = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes[position] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.remove(at: position)
    case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
    case 4:
      let end = Int.random(in: position...min(position + 40, bytes.count), using: &random)
      bytes.insert(contentsOf: bytes[position..<end], at: position)
    case 5:
      let end = Int.random(in: position...min(position + 40, bytes.count), using: &random)
      bytes.removeSubrange(position..<end)
    case 6: bytes.removeSubrange(position...)
    default:
      // The start of one response and the end of another one.
      let other = original()
      bytes = Array(bytes[..<position]) + other[Int.random(in: other.indices, using: &random)...]
    }
  }
}
