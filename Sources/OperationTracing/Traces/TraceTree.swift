internal import CompositeOperations
internal import SystemSupport

/// The runs of a trace as a tree of indices, with times in nanoseconds.
struct TraceTree: Sendable {
  private let spans: [OperationTrace.Span]
  /// The index of each run's parent; nil if the trace does not contain the parent.
  let parents: [Int?]
  let created: [Int64]
  /// The end of each run; the end of the trace for an unfinished run.
  let ended: [Int64]
  /// The time of the last known event.
  let end: Int64
  /// The index of each run's first child in ``children``, followed by the number of children.
  private let starts: [Int]
  private let children: [Int]

  /// - Complexity: O(*n*).
  init(_ trace: OperationTrace) {
    spans = trace.spans
    end = trace.end.inNanoseconds
    var places: [OperationID: Int] = [:]
    places.reserveCapacity(spans.count)
    var parents: [Int?] = []
    var counts = Array(repeating: 0, count: spans.count + 1)
    for (place, span) in spans.enumerated() {
      // Only earlier runs qualify as parents, so there are no cycles.
      let parent = span.parent.flatMap { places[$0] }
      parents.append(parent)
      if let parent { counts[parent + 1] += 1 }
      places[span.id] = place
    }
    for place in spans.indices { counts[place + 1] += counts[place] }
    var next = counts
    var children = Array(repeating: 0, count: counts[spans.count])
    for (place, parent) in parents.enumerated() {
      guard let parent else { continue }
      children[next[parent]] = place
      next[parent] += 1
    }
    self.parents = parents
    starts = counts
    self.children = children
    created = spans.map(\.created.inNanoseconds)
    ended = zip(spans, created).map { [end] span, created in
      max(created, span.ended?.inNanoseconds ?? end)
    }
  }

  func children(of place: Int) -> ArraySlice<Int> {
    children[starts[place]..<starts[place + 1]]
  }

  func isLeaf(_ place: Int) -> Bool { starts[place] == starts[place + 1] }

  /// Calls a closure with the intervals, in order, in which a run had started, had not ended and
  /// did not wait.
  func forEachRunningTime(of place: Int, _ body: (Range<Int64>) -> Void) {
    let end = ended[place]
    guard var now = spans[place].started?.inNanoseconds else { return }
    for wait in spans[place].waits {
      let began = min(wait.began.inNanoseconds, end)
      if now < began { body(now..<began) }
      now = max(now, wait.ended?.inNanoseconds ?? end)
    }
    if now < end { body(now..<end) }
  }

  /// Returns how long a run was running within an interval, in nanoseconds.
  func runningTime(of place: Int, within part: Range<Int64>) -> Int64 {
    var sum: Int64 = 0
    forEachRunningTime(of: place) { time in
      sum += max(0, min(time.upperBound, part.upperBound) - max(time.lowerBound, part.lowerBound))
    }
    return sum
  }
}
