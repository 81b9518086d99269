extension OperationTrace.Summary {
  /// The number of concurrent leaf runs over time.
  public struct Concurrency: Sendable {
    /// A part of the wall time.
    public struct Bucket: Sendable {
      /// When the bucket begins.
      public let began: Duration
      /// The average number of concurrent leaf runs.
      public let average: Double
      /// The maximum number of concurrent leaf runs.
      public let most: Int
    }

    /// The average number of concurrent leaf runs: the busy time divided by the wall time, or 0 if
    /// the wall time is zero.
    public let average: Double
    /// The maximum number of concurrent leaf runs.
    public let most: Int
    /// The length of a bucket.
    public let bucketDuration: Duration
    /// The wall time in at most 200 equal parts; empty if the wall time is zero.
    public let buckets: [Bucket]

    /// A time at which one more or one less leaf run is running.
    struct Edge: Comparable {
      /// Sorts ends before beginnings of the same time.
      private let key: Int64

      init(at time: Int64, isBeginning: Bool) { key = time << 1 | (isBeginning ? 1 : 0) }

      var time: Int64 { key >> 1 }
      var step: Int { key & 1 == 1 ? 1 : -1 }

      static func < (left: Edge, right: Edge) -> Bool { left.key < right.key }
    }

    init(_ edges: [Edge], in time: Range<Int64>, buckets count: Int) {
      let length = time.upperBound - time.lowerBound
      // Rounded up, so that the last bucket ends no earlier than the range.
      let width = max(1, (length + Int64(count) - 1) / Int64(count))
      var fillings = Array(
        repeating: (area: 0.0, most: 0), count: Int((length + width - 1) / width))
      var (now, level, most, area) = (time.lowerBound, 0, 0, 0.0)
      for edge in edges.sorted() {
        let next = min(max(edge.time, now), time.upperBound)
        while now < next {
          let bucket = Int((now - time.lowerBound) / width)
          let end = min(next, time.lowerBound + Int64(bucket + 1) * width)
          fillings[bucket].area += Double(level) * Double(end - now)
          fillings[bucket].most = max(fillings[bucket].most, level)
          area += Double(level) * Double(end - now)
          now = end
        }
        level += edge.step
        most = max(most, level)
      }
      average = length > 0 ? area / Double(length) : 0
      self.most = most
      bucketDuration = .nanoseconds(length > 0 ? width : 0)
      buckets = fillings.enumerated().map { index, filling in
        let began = time.lowerBound + Int64(index) * width
        let part = Double(min(width, time.upperBound - began))
        return Bucket(
          began: .nanoseconds(began), average: filling.area / part, most: filling.most)
      }
    }
  }
}
