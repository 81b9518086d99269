extension OperationTrace {
  /// What ran, in numbers.
  ///
  /// ```swift
  /// let recorder = TraceRecorder()
  /// _ = await sync.observed(by: recorder).run()
  /// print(recorder.trace.summary)
  /// ```
  ///
  /// A run that had not ended counts as if it had ended with the trace.
  ///
  /// - Complexity: O(*n* log *n*) in the number of runs and of their waits.
  public var summary: Summary { Summary(of: self, tree: TraceTree(self), buckets: 200) }

  /// What a trace comes to in numbers.
  ///
  /// A run *runs* from its start to its end, except while it waits. Leaf runs are those without children: the work is
  /// in them, and the others only wait for them.
  public struct Summary: Sendable {
    /// How many runs there were.
    public let runCount: Int
    /// How many of them had no children.
    public let leafCount: Int
    /// How many ended in a result.
    public let resultCount: Int
    /// How many ended in an error.
    public let errorCount: Int
    /// How many were cancelled.
    public let cancelledCount: Int
    /// How many had not ended.
    public let unfinishedCount: Int
    /// How many were a second or a later attempt.
    public let retryCount: Int
    /// How many events the trace did not keep.
    public let droppedCount: Int
    /// The time from the creation of the first run to the last thing that is known.
    public let wallTime: Duration
    /// The sum of the times in which leaf runs ran, so two that run side by side for a second count as two seconds.
    public let busyTime: Duration
    /// The sum of the times in which leaf runs were there and did not run.
    public let waitTime: Duration
    /// What the whole took its time for, in the order of time: stretches, one behind the other, that together are as
    /// long as the outermost run that ended last.
    ///
    /// The path is walked backwards. It begins with that run, at its end. Being with a run at a moment, look for
    /// the child of it that was the last to end before that moment: what lies between that end and the moment is a
    /// stretch of the run itself, and the walk goes on with that child, at its end. Being at the creation of a
    /// run, the walk returns to whoever ran it, at the same moment. So a child is on the path if the rest could
    /// only go on when it had ended; one that ran beside a longer one is not. Make what is on the path shorter,
    /// and the whole becomes shorter.
    ///
    /// That is the critical path of Zhang and others, *CRISP: Critical Path Analysis of Large-Scale Microservice
    /// Architectures*, USENIX ATC 2022.
    public let criticalPath: [Stretch]
    /// The longest waits of all runs, the longest first, ten at most.
    public let longestWaits: [LongWait]
    /// The leaf runs that took longest from their creation to their end, the longest first, ten at most.
    public let longestRuns: [Stretch]
    /// How many leaf runs ran at once.
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
