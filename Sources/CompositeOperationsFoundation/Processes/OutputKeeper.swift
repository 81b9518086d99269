/// The first and the last bytes of a program's output.
struct OutputKeeper {
  private let firstLimit: Int
  private let lastLimit: Int
  private var first: [UInt8] = []
  private var last: [UInt8] = []
  private var count = 0

  /// - Parameters:
  ///   - firstLimit: How many of the first bytes are kept at most.
  ///   - lastLimit: How many of the last bytes are kept at most.
  init(first firstLimit: Int, last lastLimit: Int) {
    self.firstLimit = firstLimit
    self.lastLimit = lastLimit
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    count += bytes.count
    if first.count < firstLimit { first += bytes.prefix(firstLimit - first.count) }
    if lastLimit == 0 { return }
    last += bytes.suffix(lastLimit)
    // Not every time, so that each byte is moved at most once.
    if last.count - lastLimit >= lastLimit { last.removeFirst(last.count - lastLimit) }
  }

  /// The first bytes, and how many bytes followed them.
  var beginning: (bytes: [UInt8], droppedByteCount: Int) { (first, count - first.count) }

  /// The last bytes, limited to a number and to the bytes that are kept, and how many bytes
  /// preceded them.
  func end(_ limit: Int) -> (bytes: [UInt8], droppedByteCount: Int) {
    let bytes = Array(last.suffix(min(limit, lastLimit)))
    return (bytes, count - bytes.count)
  }
}
