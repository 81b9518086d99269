/// Concatenated strings for the system, each terminated by a zero byte.
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
    // An empty list needs an address too: a null pointer would mean that there is no list.
    let bytes = bytes.isEmpty ? [0] : bytes
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let address = bytes.baseAddress else {
        preconditionFailure("a non-empty array has no base address")
      }
      return unsafe body(address)
    }
  }
}
