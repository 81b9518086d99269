/// One way to do a piece of work, measured beside others that do the same.
struct Benchmark: Sendable {
  let name: String
  /// How many operations one run performs; figures are per operation.
  let operations: Int
  /// Does the work once, and gives a sum that all ways must agree on.
  let body: @Sendable () async throws -> UInt64
}

/// Ways to do the same work; the first is what the others are compared with.
struct Shape: Sendable {
  let name: String
  let ways: [Benchmark]
}
