/// The script of a child of a timeline test: its runs, and how each ends.
struct TimelineScript: Sendable {
  let text: String
  let runs: [ScriptedRun<Int>]

  /// - Parameters:
  ///   - text: The runs, separated by `|`.
  ///   - child: The number of the child, which is its result.
  /// - Throws: A ``TimelineSyntaxError`` if the text is invalid.
  init(_ text: String, ofChild child: Int) throws {
    self.text = text
    var offset = 0
    runs = try text.split(separator: "|", omittingEmptySubsequences: false).enumerated()
      .map { number, part in
        defer { offset += part.count + 1 }
        return try Self.run(
          part, at: offset, of: text, child: child, failure: "failed in run \(number + 1)")
      }
  }

  private static func run(
    _ part: Substring, at start: Int, of text: String, child: Int, failure: String
  ) throws -> ScriptedRun<Int> {
    var waits: [(ticks: Int, isDeaf: Bool)] = []
    var end: ScriptedRun<Int>?
    func unclear(_ reason: String, at offset: Int) -> TimelineSyntaxError {
      TimelineSyntaxError(timeline: text, offset: start + offset, reason: reason)
    }
    for (offset, character) in part.enumerated() where character != " " {
      if end != nil { throw unclear("nothing may follow the end of a run", at: offset) }
      switch character {
      case "-", "=":
        let isDeaf = character == "="
        if let last = waits.last, last.isDeaf == isDeaf {
          waits[waits.count - 1].ticks += 1
        } else {
          waits.append((1, isDeaf))
        }
      case "r": end = .result(child)
      case "^": end = .error(ScriptedError(failure))
      case ";": end = .cancelled
      default: throw unclear("unexpected \"\(character)\"; expected one of -=r^;|", at: offset)
      }
    }
    if end == nil, waits.isEmpty { throw unclear("a run needs at least one tick", at: part.count) }
    if end == nil, waits.contains(where: \.isDeaf) {
      throw unclear("a run with \"=\" needs an end: r, ^ or ;", at: part.count)
    }
    // A run without an end waits until it is cancelled.
    guard let end else { return .untilCancelled }
    return waits.reduce(end) { run, wait in
      run.waiting(for: .time(.seconds(wait.ticks)), isDeaf: wait.isDeaf)
    }
  }
}
