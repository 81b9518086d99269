/// The first and the last bytes of what a program writes.
struct OutputKeeper {
  private let firstLimit: Int
  private let lastLimit: Int
  private var first: [UInt8] = []
  private var last: [UInt8] = []
  private var count = 0

  /// - Parameters:
  ///   - firstLimit: How many of the first bytes are kept at most.
  ///   - lastLimit: How many of the last ones.
  init(first firstLimit: Int, last lastLimit: Int) {
    self.firstLimit = firstLimit
    self.lastLimit = lastLimit
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    count += bytes.count
    if first.count < firstLimit { first += bytes.prefix(firstLimit - first.count) }
    if lastLimit == 0 { return }
    last += bytes.suffix(lastLimit)
    // Not every time, so that a byte is moved about once.
    if last.count - lastLimit >= lastLimit { last.removeFirst(last.count - lastLimit) }
  }

  /// The first bytes, and how many there were behind them.
  var beginning: (bytes: [UInt8], droppedByteCount: Int) { (first, count - first.count) }

  /// The last bytes, so many at most and no more than are kept, and how many there were before them.
  func end(_ limit: Int) -> (bytes: [UInt8], droppedByteCount: Int) {
    let bytes = Array(last.suffix(min(limit, lastLimit)))
    return (bytes, count - bytes.count)
  }
}
