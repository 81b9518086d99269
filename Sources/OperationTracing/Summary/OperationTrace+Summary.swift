internal import SystemSupport

extension OperationTrace {
  /// The trace in numbers.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// print(recorder.trace.summary)
  /// ```
  ///
  /// An unfinished run counts as if it had ended with the trace.
  ///
  /// - Complexity: O(*n* log *n*) in the number of runs and waits.
  public var summary: Summary { Summary(of: self, tree: TraceTree(self), buckets: 200) }

  /// A trace in numbers: counts, times, concurrency and the critical path.
  ///
  /// A run *runs* from its start to its end, except while it waits. Leaf runs are the runs without
  /// children. They do the work, and the other runs only wait for them.
  public struct Summary: Sendable {
    /// The number of runs.
    public let runCount: Int
    /// The number of runs without children.
    public let leafCount: Int
    /// The number of runs that ended in a result.
    public let resultCount: Int
    /// The number of runs that ended in an error.
    public let errorCount: Int
    /// The number of cancelled runs.
    public let cancelledCount: Int
    /// The number of runs that had not ended.
    public let unfinishedCount: Int
    /// The number of runs that are a second or later attempt.
    public let retryCount: Int
    /// The number of events that were dropped.
    public let droppedCount: Int
    /// The time from the creation of the first run to the last known event.
    public let wallTime: Duration
    /// The sum of the times in which leaf runs ran. Two leaf runs that run concurrently for one
    /// second count as two seconds.
    public let busyTime: Duration
    /// The sum of the times in which leaf runs existed but did not run.
    public let waitTime: Duration
    /// The chain of runs that determines the total time: consecutive stretches in chronological
    /// order. Together they are as long as the outermost run that ended last.
    ///
    /// The search goes backwards from the end of that run. At a given time in a run, it takes the
    /// child that was the last to end before this time. The interval between that end and the given
    /// time is a stretch of the run itself, and the search continues with the child, at its end. At
    /// the creation of a run, the search returns to the parent, at the same time. So a child is on
    /// the path if the rest had to wait for its end; a child that ran beside a longer one is not.
    /// Shortening a run on the path shortens the total time.
    ///
    /// This is the critical path of Zhang and others, *CRISP: Critical Path Analysis of Large-Scale
    /// Microservice Architectures*, USENIX ATC 2022.
    public let criticalPath: [Stretch]
    /// The longest waits of all runs, at most ten, in descending order.
    public let longestWaits: [LongWait]
    /// The leaf runs with the longest times from creation to end, at most ten, in descending order.
    public let longestRuns: [Stretch]
    /// The number of concurrent leaf runs over time.
    public let concurrency: Concurrency

    init(of trace: OperationTrace, tree: TraceTree, buckets: Int) {
      let spans = trace.spans
      let first = tree.created.min() ?? 0
      var counts = (leaves: 0, results: 0, errors: 0, cancelled: 0, unfinished: 0, retries: 0)
      var (busy, present) = (0 as Int64, 0 as Int64)
      var edges: [Concurrency.Edge] = []
      var waits = Longest<LongWait>(10)
      var leaves = Longest<Int>(10)
      for (place, span) in spans.enumerated() {
        switch span.end {
        case .result: counts.results += 1
        case .error: counts.errors += 1
        case .cancelled: counts.cancelled += 1
        case nil: counts.unfinished += 1
        }
        if span.attempt > 1 { counts.retries += 1 }
        for wait in LongWait.all(of: span, at: place, endedBy: tree.ended[place]) {
          waits.add(wait, length: wait.duration.inNanoseconds)
        }
        guard tree.isLeaf(place) else { continue }
        let length = tree.ended[place] - tree.created[place]
        counts.leaves += 1
        present += length
        leaves.add(place, length: length)
        tree.forEachRunningTime(of: place) { time in
          busy += time.upperBound - time.lowerBound
          edges.append(Concurrency.Edge(at: time.lowerBound, isBeginning: true))
          edges.append(Concurrency.Edge(at: time.upperBound, isBeginning: false))
        }
      }
      runCount = spans.count
      leafCount = counts.leaves
      resultCount = counts.results
      errorCount = counts.errors
      cancelledCount = counts.cancelled
      unfinishedCount = counts.unfinished
      retryCount = counts.retries
      droppedCount = trace.droppedCount
      wallTime = .nanoseconds(spans.isEmpty ? 0 : tree.end - first)
      busyTime = .nanoseconds(busy)
      waitTime = .nanoseconds(present - busy)
      longestWaits = waits.elements
      longestRuns = leaves.elements.map { place in
        Stretch(of: place, spans[place], tree.created[place]..<tree.ended[place], tree)
      }
      concurrency = Concurrency(edges, in: first..<max(first, tree.end), buckets: buckets)
      criticalPath = CriticalPath(tree).pieces.map { piece in
        Stretch(of: piece.place, spans[piece.place], piece.time, tree)
      }
    }
  }
}
