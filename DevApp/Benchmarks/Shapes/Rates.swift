import CompositeOperations

extension Shape {
  /// Operations at a rate of 100,000 a second, most of which wait for it.
  static func rate(count: Int) -> Shape {
    Shape(
      id: "rate", title: "\(count.grouped) operations, 100,000 a second", operations: count,
      hasEqualWays: false,
      ways: [
        Way("throttled", .ours) {
          let limit = RateLimit(1_000, per: .milliseconds(10))
          let operations = (0..<count).map { Work(seed: UInt64($0)).throttled(by: limit) }
          let width = OperationWidth.limited(to: 1_000)
          return try await ParallelOperation(operations, width: width).run().get().reduce(0, &+)
        },
        Way("actor with a token bucket", .swift) {
          let bucket = TokenBucket(1_000, per: .milliseconds(10))
          return try await withThrowingTaskGroup(of: UInt64.self) { group in
            for index in 0..<count {
              group.addTask {
                try await bucket.take()
                return work(UInt64(index))
              }
            }
            return try await group.reduce(0, &+)
          }
        },
      ])
  }
}
