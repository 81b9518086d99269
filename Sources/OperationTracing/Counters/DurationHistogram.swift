/// A histogram of durations.
public struct DurationHistogram: Sendable, Equatable {
  /// The upper bounds of the buckets in seconds, ascending. A duration equal to a bound is within
  /// it.
  public let bounds: [Double]
  /// The number of durations in each bucket, not including lower buckets. The last bucket has no
  /// bound, and counts the durations above all bounds.
  public internal(set) var counts: [Int]
  /// The sum of all durations.
  public internal(set) var sum: Duration = .zero

  /// 20 bounds in seconds, from 100 microseconds to 10 minutes.
  public static let defaultBounds: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    30, 60, 300, 600,
  ]

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// The number of durations.
  public var count: Int { counts.reduce(0, +) }

  mutating func add(_ other: DurationHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }
}
