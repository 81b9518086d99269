import CompositeOperations
import OperationTracing

/// A trace that a test builds run by run, with times in milliseconds.
struct HandMadeTrace {
  private(set) var spans: [OperationTrace.Span] = []

  /// Adds a run.
  ///
  /// - Parameters:
  ///   - start: The time of its start; nil for the time of its creation, and -1 for never.
  ///   - last: The time of its end; nil if it has not ended.
  /// - Returns: Its index in the trace.
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

  /// The trace, which begins at the end of 2023, so that all images of it are equal.
  var trace: OperationTrace { OperationTrace(beginning: 1_703_980_800_000_000_000, spans: spans) }

  /// Returns a trace of sequential or nested runs.
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
