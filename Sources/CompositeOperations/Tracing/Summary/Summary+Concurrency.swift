extension OperationTrace.Summary {
  /// How many leaf runs ran at once, over time.
  public struct Concurrency: Sendable {
    /// A part of the time.
    public struct Bucket: Sendable {
      public let began: Duration
      /// How many ran at once on average.
      public let average: Double
      /// How many ran at once at most.
      public let most: Int
    }

    /// How many ran at once on average: the busy time over the wall time; 0 if that took no time.
    public let average: Double
    /// How many ran at once at most.
    public let most: Int
    /// How long a bucket is.
    public let bucketDuration: Duration
    /// The wall time in equal parts, 200 at most; none if it took no time.
    public let buckets: [Bucket]

    /// The moment at which one more runs, or one less.
    struct Edge: Comparable {
      /// Ends come before the beginnings of the same moment.
      private let key: Int64

      init(at time: Int64, isBeginning: Bool) { key = time << 1 | (isBeginning ? 1 : 0) }

      var time: Int64 { key >> 1 }
      var step: Int { key & 1 == 1 ? 1 : -1 }

      static func < (left: Edge, right: Edge) -> Bool { left.key < right.key }
    }

    init(_ edges: [Edge], in time: Range<Int64>, buckets count: Int) {
      let length = time.upperBound - time.lowerBound
      // Rounded up, so that the last bucket ends no earlier than the time.
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
