/// The runs of a trace by their places in it: who runs whom, from when to when, in nanoseconds.
struct TraceTree: Sendable {
  private let spans: [OperationTrace.Span]
  /// The place of the run that runs this one; nil if the trace does not hold it.
  let parents: [Int?]
  let created: [Int64]
  /// When it ended; of one that goes on, the end of the trace.
  let ended: [Int64]
  /// The last thing that is known.
  let end: Int64
  /// Where the children of a run begin in ``children``; one more than there are runs.
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
      // Of those before it alone, so that there are no circles.
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

  /// Gives the times, in order, in which a run had started, had not ended and waited for nothing.
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

  /// How long a run ran and did not wait, in nanoseconds, of a part of its time.
  func runningTime(of place: Int, within part: Range<Int64>) -> Int64 {
    var sum: Int64 = 0
    forEachRunningTime(of: place) { time in
      sum += max(0, min(time.upperBound, part.upperBound) - max(time.lowerBound, part.lowerBound))
    }
    return sum
  }
}
