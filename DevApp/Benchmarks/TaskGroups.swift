import CompositeOperations

/// What people write today: a task group with a task an operation, results put in order by index.
@concurrent func taskGroup(_ operations: [any ComposableOperation<UInt64>]) async throws -> [UInt64]
{
  struct Indexed: Sendable {
    let index: Int
    let value: UInt64
  }
  return try await withThrowingTaskGroup(of: Indexed.self) { group in
    for (index, operation) in operations.enumerated() {
      group.addTask {
        Indexed(index: index, value: try await operation.perform(in: OperationContext()))
      }
    }
    var results = [UInt64](repeating: 0, count: operations.count)
    for try await result in group { results[result.index] = result.value }
    return results
  }
}

/// A task a step, each started when the one before it has ended.
@concurrent func taskChain(_ count: Int) async throws -> UInt64 {
  var sum: UInt64 = 0
  for index in 0..<count {
    let operation = mixed(index)
    sum &+= try await Task { try await operation.perform(in: OperationContext()) }.value
  }
  return sum
}
