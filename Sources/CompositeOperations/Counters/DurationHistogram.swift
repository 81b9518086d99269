/// How many durations there were of which length.
public struct DurationHistogram: Sendable, Equatable {
  /// The upper bounds of the buckets in seconds, ascending; a duration that is equal to a bound is below it.
  public let bounds: [Double]
  /// How many durations are in each bucket and in no lower one. The last one, which has no bound, has those
  /// above all bounds.
  public internal(set) var counts: [Int]
  /// All durations together.
  public internal(set) var sum: Duration = .zero

  /// From 100 microseconds to 10 minutes: 20 bounds in seconds.
  public static let defaultBounds: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    30, 60, 300, 600,
  ]

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// How many durations there were.
  public var count: Int { counts.reduce(0, +) }

  mutating func add(_ other: DurationHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }
}
