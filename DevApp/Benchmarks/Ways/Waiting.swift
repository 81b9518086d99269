import CompositeOperations

/// An operation that waits in a crowd until it is resumed, and returns its index.
struct Waiting: ComposableOperation {
  let index: Int
  let crowd: Crowd

  func perform(in context: OperationContext) async throws -> UInt64 {
    await crowd.wait(at: index)
    return UInt64(index)
  }
}
