/// The rows of runs in a timeline. A lane has as many rows as its runs are nested.
struct TimelineRows: Sendable {
  /// The row of each run, from 0.
  let rows: [Int]
  /// The first row of each lane that has one, followed by the number of rows.
  let lanes: [Int]

  var count: Int { lanes.last ?? 0 }

  /// - Complexity: O(*n*).
  init(_ spans: [OperationTrace.Span], _ tree: TraceTree) {
    var depths: [Int] = []
    depths.reserveCapacity(spans.count)
    var heights: [Int] = []
    for (place, span) in spans.enumerated() {
      let parent = tree.parents[place].flatMap { spans[$0].lane == span.lane ? $0 : nil }
      let depth = parent.map { depths[$0] + 1 } ?? 0
      depths.append(depth)
      while heights.count <= span.lane { heights.append(0) }
      heights[span.lane] = max(heights[span.lane], depth + 1)
    }
    var starts: [Int] = []
    var next = 0
    for height in heights {
      starts.append(next)
      next += height
    }
    rows = zip(spans, depths).map { span, depth in starts[span.lane] + depth }
    lanes = zip(starts, heights).filter { $0.1 > 0 }.map(\.0) + [next]
  }
}
