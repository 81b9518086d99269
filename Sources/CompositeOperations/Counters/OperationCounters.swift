/// Counts what runs, by the names of the operations, for dashboards and alarms.
///
/// ```swift
/// let counters = OperationCounters()
/// let outcome = await sync.observed(by: counters).run()
/// print(counters.prometheusText)
/// if let counts = counters.counts.first(where: { $0.name == "FetchIssues" }) {
///   print("\(counts.errors) of \(counts.ended) failed, \(counts.inFlight) in flight")
/// }
/// ```
///
/// One of them counts for a whole program: put it among the observers of the environment of every flow. Of runs
/// that came to be before it saw them it counts nothing.
///
/// What it keeps grows with the runs that go on and with the names, of which there is a limit: what has other
/// names is counted as ``otherName``. Names should stand for kinds of operations, and not have the number of an
/// order in them.
public final class OperationCounters: OperationObserver {
  /// The name of all operations whose names are beyond the limit: `other`.
  public static let otherName = "other"

  private let bounds: [Double]
  private let machine: BusyLock<StateMachine>

  /// - Parameters:
  ///   - bounds: The upper bounds in seconds of the buckets that durations are counted in.
  ///   - nameLimit: How many names are counted apart at most.
  /// - Precondition: The bounds are ascending, above 0 and below 1,000,000,000, and the limit is not negative.
  public init(bounds: [Double] = DurationHistogram.defaultBounds, nameLimit: Int = 200) {
    precondition(
      bounds.allSatisfy { $0 > 0 && $0 < 1e9 } && zip(bounds, bounds.dropFirst()).allSatisfy(<),
      "`bounds` must be ascending, above 0 and below 1,000,000,000 seconds (was \(bounds))")
    precondition(nameLimit >= 0, "`nameLimit` must not be negative (was \(nameLimit))")
    self.bounds = bounds
    machine = BusyLock(StateMachine(bounds: bounds, nameLimit: nameLimit))
  }

  public var leastLogLevel: OperationLogLevel? { nil }

  public func observe(_ event: OperationEvent) {
    switch event.kind {
    case .created, .waitingBegan, .waitingEnded, .retryScheduled, .ended:
      machine.withLock { $0.observed(event) }
    case .started, .childStarted, .progressed, .childrenExpected, .logged, .cancellationRequested,
      .finishedAgain, .abandonedBodyEnded:
      break
    }
  }

  /// What was counted so far, in the order of the names.
  ///
  /// - Complexity: O(*n* log *n*) in the number of names.
  public var counts: [OperationCounts] {
    machine.withLock { $0.counts }.sorted { $0.name < $1.name }
  }

  /// What was counted so far of all names together; its name is empty.
  public var total: OperationCounts {
    counts.reduce(into: OperationCounts(name: "", bounds: bounds)) { $0.add($1) }
  }
}
