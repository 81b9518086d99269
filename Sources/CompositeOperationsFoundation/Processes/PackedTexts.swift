/// Texts for the system, one behind another, each with a zero byte behind it.
struct PackedTexts {
  private(set) var count = 0
  private var bytes: [CChar] = []

  init(_ texts: [String] = []) {
    for text in texts { append(text.utf8) }
  }

  mutating func append(_ text: some Sequence<UInt8>) {
    bytes.append(contentsOf: text.lazy.map { CChar(bitPattern: $0) })
    bytes.append(0)
    count += 1
  }

  func withUnsafePointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // An empty list has an address too: without one the system would be told of no list at all.
    let bytes = bytes.isEmpty ? [0] : bytes
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let address = bytes.baseAddress else {
        preconditionFailure("a non-empty array has no base address")
      }
      return unsafe body(address)
    }
  }
}
