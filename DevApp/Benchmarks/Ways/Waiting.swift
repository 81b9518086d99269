import CompositeOperations

/// Waits among a crowd until somebody resumes it, and gives its place.
struct Waiting: ComposableOperation {
  let index: Int
  let crowd: Crowd

  func perform(in context: OperationContext) async throws -> UInt64 {
    await crowd.wait(at: index)
    return UInt64(index)
  }
}
