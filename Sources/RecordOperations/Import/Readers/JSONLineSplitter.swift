internal import SystemSupport

/// A splitter that finds the objects of JSON Lines. A JSON string contains no line feed, so a line
/// feed always ends an object.
struct JSONLineSplitter: JSONSplitter {
  private let limits: RowLimits
  private var line = 1
  /// The bytes of the unfinished line.
  private var bytes: [UInt8] = []
  /// The number of objects in a line that is too large.
  private var skipped: JSONObjectCount?

  init(limits: RowLimits) { self.limits = limits }

  mutating func split(_ piece: Span<UInt8>, into batch: inout JSONBatch) {
    var start = 0
    while start < piece.count {
      let end = piece.firstIndex(from: start, of: .lineFeed, .lineFeed, .lineFeed)
      append(piece.extracting(start..<end))
      if end == piece.count { return }
      endLine(into: &batch)
      line += 1
      start = end + 1
    }
  }

  mutating func finish(into batch: inout JSONBatch) { endLine(into: &batch) }

  private mutating func append(_ part: Span<UInt8>) {
    if skipped == nil, part.count > limits.rowBytes - bytes.count {
      skipped = JSONObjectCount(bytes.span)
      bytes = []
    }
    if skipped == nil { bytes.append(part) } else { skipped?.consume(part) }
  }

  private mutating func endLine(into batch: inout JSONBatch) {
    if let skipped {
      batch.appendProblem(line: line, rowCount: skipped.count, limits.tooLargeObject)
    } else if !bytes.allSatisfy(\.isJSONSpace) {
      batch.appendObject(bytes, line: line, limits: limits)
    }
    bytes.removeAll(keepingCapacity: bytes.count < 1 << 20)
    skipped = nil
  }
}
