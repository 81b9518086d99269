import CompositeOperations

/// A loop that runs one operation after another in the calling task.
enum DirectLoop {
  @concurrent static func run(
    _ operations: [any ComposableOperation<UInt64>]
  ) async throws -> [UInt64] {
    let context = OperationContext()
    var results = [UInt64](repeating: 0, count: operations.count)
    for index in operations.indices {
      results[index] = try await operations[index].perform(in: context)
    }
    return results
  }
}
