public import CompositeOperations

/// An observer that counts runs by the name of their operation, for dashboards and alerts.
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
/// One instance can count for a whole program: add it to the observers of the environment of every
/// flow. Runs that were created before it observed them are not counted.
///
/// Its memory grows with the number of unfinished runs, and with the number of names, which is
/// limited. Operations with further names are counted together as ``otherName``. Names should
/// denote kinds of operations, and not contain the number of an order.
public final class OperationCounters: OperationObserver {
  /// The name under which operations beyond the limit of names are counted: `other`.
  public static let otherName = "other"

  private let bounds: [Double]
  private let machine: BusyLock<StateMachine>

  /// Creates counters.
  ///
  /// - Parameters:
  ///   - bounds: The upper bounds of the buckets for durations, in seconds.
  ///   - nameLimit: The maximum number of names that are counted separately.
  /// - Precondition: `bounds` are ascending, above 0 and below 1,000,000,000 seconds, and
  ///   `nameLimit` is not negative.
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
    case .started, .childStarted, .progressed, .childrenExpected, .attributesSet, .logged,
      .cancellationRequested,
      .finishedAgain, .abandonedBodyEnded:
      break
    }
  }

  /// The counts so far, sorted by name.
  ///
  /// - Complexity: O(*n* log *n*) in the number of names.
  public var counts: [OperationCounts] {
    machine.withLock { $0.counts }.sorted { $0.name < $1.name }
  }

  /// The sum of the counts so far of all names. Its own name is empty.
  public var total: OperationCounts {
    counts.reduce(into: OperationCounts(name: "", bounds: bounds)) { $0.add($1) }
  }
}
