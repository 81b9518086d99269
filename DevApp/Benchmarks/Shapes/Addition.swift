import CompositeOperations

/// Work whose result is added to the sum of the previous operations.
struct Addition: ComposableOperation {
  let sum: UInt64
  let seed: UInt64

  func perform(in context: OperationContext) async throws -> UInt64 { sum &+ work(seed) }
}
