import CompositeOperations

/// A trace that a test makes run by run, with times in milliseconds.
struct HandMadeTrace {
  private(set) var spans: [OperationTrace.Span] = []

  /// - Parameters:
  ///   - start: When it started; nil for its creation, and -1 for never.
  ///   - last: When it ended; nil if it goes on.
  /// - Returns: Its place in the trace.
  @discardableResult
  mutating func add(
    _ name: String, below parent: Int? = nil, _ created: Int, start: Int? = nil, to last: Int?,
    _ end: OperationTrace.End = .result, attempt: Int = 1, lane: Int = 0,
    waits: [(OperationEvent.Wait, Int, Int?)] = [], notes: [String] = []
  ) -> Int {
    var span = OperationTrace.Span(
      id: OperationID(), parent: parent.map { spans[$0].id }, name: name, attempt: attempt,
      created: .milliseconds(created), lane: lane)
    span.started = start == -1 ? nil : .milliseconds(start ?? created)
    span.ended = last.map { .milliseconds($0) }
    span.end = last.map { _ in end }
    span.waits = waits.map { kind, began, ended in
      OperationTrace.Wait(
        kind: kind, began: .milliseconds(began), ended: ended.map { .milliseconds($0) })
    }
    span.notes = notes.map { text in
      OperationTrace.Note(time: .milliseconds(created), level: nil, text: text)
    }
    spans.append(span)
    return spans.count - 1
  }

  /// Begins at the end of 2023, so that every picture of it is the same.
  var trace: OperationTrace { OperationTrace(beginning: 1_703_980_800_000_000_000, spans: spans) }

  /// Runs one after the other, or one below the other.
  static func chain(of count: Int, isNested: Bool) -> OperationTrace {
    var made = HandMadeTrace()
    for index in 0..<count {
      if isNested {
        made.add(
          "level \(index)", below: index == 0 ? nil : index - 1, index, to: 2 * count - index)
      } else {
        made.add("step \(index)", index, to: index + 1)
      }
    }
    return made.trace
  }
}
