internal import CompositeOperations

/// The counts of the runs with one name.
public struct OperationCounts: Sendable, Equatable {
  /// A kind of wait.
  public enum Wait: String, Sendable, CaseIterable {
    /// A wait for a place in a pool.
    case place
    /// A wait for permits.
    case permits
    /// A wait because of a rate limit.
    case rate
    /// A wait for conditions.
    case conditions
    /// A wait for a time to pass.
    case time
    /// A wait for an instant of another clock.
    case moment
    /// A wait for the result of a shared run.
    case sharedResult = "shared_result"

    init(_ wait: OperationEvent.Wait) {
      self =
        switch wait {
        case .place: .place
        case .permits: .permits
        case .rate: .rate
        case .conditions: .conditions
        case .time: .time
        case .moment: .moment
        case .sharedResult: .sharedResult
        }
    }
  }

  /// The name of the operations, or ``OperationCounters/otherName``.
  public let name: String
  /// The number of runs that were created.
  public internal(set) var begun = 0
  /// The number of runs that ended in a result.
  public internal(set) var results = 0
  /// The number of runs that ended in an error.
  public internal(set) var errors = 0
  /// The number of runs that were cancelled.
  public internal(set) var cancellations = 0
  /// The number of runs that are waiting now, by the kind of wait. Kinds that never occurred are
  /// absent.
  public internal(set) var waiting: [Wait: Int] = [:]
  /// The number of attempts that failed and were retried.
  public internal(set) var retries = 0
  /// The durations of ended runs from their creation to their end, including waits.
  public internal(set) var durations: DurationHistogram

  init(name: String, bounds: [Double]) {
    self.name = name
    durations = DurationHistogram(bounds: bounds)
  }

  /// The number of runs that have ended.
  public var ended: Int { results + errors + cancellations }
  /// The number of runs that have not ended.
  public var inFlight: Int { begun - ended }

  mutating func add(_ other: OperationCounts) {
    begun += other.begun
    results += other.results
    errors += other.errors
    cancellations += other.cancellations
    waiting.merge(other.waiting, uniquingKeysWith: +)
    retries += other.retries
    durations.add(other.durations)
  }
}
