internal import CompositeOperations
internal import SystemSupport

extension OperationTrace {
  /// The trace as a tree, one line per run: its creation time, name, duration, outcome and waits.
  /// Of an error with several lines, only the first is shown.
  ///
  /// ```text
  ///      0.0 ms  Sync  12.4 ms  result
  ///      0.1 ms    FetchUser  4.0 ms  result
  ///      4.2 ms    FetchIssues  8.1 ms  error: HTTP 500  waited 2.0 ms for a place
  /// ```
  public var text: String {
    var below: [OperationID: [Int]] = [:]
    var stack: [(index: Int, level: Int)] = []
    let known = Set(spans.map(\.id))
    for (index, span) in spans.enumerated().reversed() {
      if let parent = span.parent, known.contains(parent) {
        below[parent, default: []].append(index)
      } else {
        stack.append((index, 0))
      }
    }
    var lines: [String] = []
    while let (index, level) = stack.popLast() {
      let span = spans[index]
      // Limits the indentation of deep trees.
      let margin = String(repeating: "  ", count: min(level, 40))
      let time = span.created.inMilliseconds
      lines.append(
        String(repeating: " ", count: max(0, 12 - time.count)) + time + "  " + margin + span.line)
      for child in below[span.id] ?? [] { stack.append((child, level + 1)) }
    }
    if droppedCount > 0 { lines.append("\(droppedCount) events were dropped") }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension OperationTrace.Span {
  fileprivate var line: String {
    var parts = [name.clippedLine(to: 300) + (attempt > 1 ? " (attempt \(attempt))" : "")]
    parts.append(duration?.readable ?? "not ended")
    if let end {
      let lines = "\(end)".split(maxSplits: 1, whereSeparator: \.isNewline)
      parts.append(lines.first.map { $0 + (lines.count > 1 ? " …" : "") } ?? "")
    }
    for wait in waits {
      parts.append(
        "waited \((wait.ended.map { $0 - wait.began })?.readable ?? "so far") for \(wait.kind)")
    }
    return parts.joined(separator: "  ")
  }
}

extension OperationTrace.End: CustomStringConvertible {
  public var description: String {
    switch self {
    case .result: "result"
    case .error(let error): "error: \(error)"
    case .cancelled(let reason): "cancelled" + (reason.map { " because \($0)" } ?? "")
    }
  }
}

extension Duration {
  /// Milliseconds with one decimal, for a column: `12.4 ms`.
  fileprivate var inMilliseconds: String {
    let tenths = max(0, inNanoseconds) / 100_000
    return "\(tenths / 10).\(tenths % 10) ms"
  }
}
