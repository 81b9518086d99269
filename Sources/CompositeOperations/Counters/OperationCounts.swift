/// What ``OperationCounters`` have counted of the runs of one name.
public struct OperationCounts: Sendable, Equatable {
  /// What a run may wait for.
  public enum Wait: String, Sendable, CaseIterable {
    case place
    case permits
    case rate
    case conditions
    case time
    case moment
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
  /// How many runs came to be.
  public internal(set) var begun = 0
  /// How many ended in a result.
  public internal(set) var results = 0
  /// How many ended in an error.
  public internal(set) var errors = 0
  /// How many ended in a cancellation.
  public internal(set) var cancellations = 0
  /// How many wait now, by what they wait for; nothing for what nobody has waited for.
  public internal(set) var waiting: [Wait: Int] = [:]
  /// How many attempts failed and were followed by another one.
  public internal(set) var retries = 0
  /// The times from the creation of a run to its end, waiting included, of those that have ended.
  public internal(set) var durations: DurationHistogram

  init(name: String, bounds: [Double]) {
    self.name = name
    durations = DurationHistogram(bounds: bounds)
  }

  /// How many ended.
  public var ended: Int { results + errors + cancellations }
  /// How many go on now.
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
