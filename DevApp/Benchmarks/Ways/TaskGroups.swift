import CompositeOperations

/// Common solutions with Swift's own tasks. Results are put in order by index.
enum TaskGroups {
  // A struct, because Swift 6.3.1 mixes up the tuples that asynchronous closures return.
  private struct Indexed: Sendable {
    let index: Int
    let value: UInt64
  }

  private typealias Operation = any ComposableOperation<UInt64>

  /// A task per operation.
  @concurrent static func throwing(
    _ operations: [any ComposableOperation<UInt64>]
  ) async throws -> [UInt64] {
    try await withThrowingTaskGroup(of: Indexed.self) { group in
      for (index, operation) in operations.enumerated() {
        group.addTask { try await perform(operation, at: index) }
      }
      var results = [UInt64](repeating: 0, count: operations.count)
      for try await result in group { results[result.index] = result.value }
      return results
    }
  }

  /// A task per operation, which stores its own result.
  @concurrent static func discarding(
    _ operations: [any ComposableOperation<UInt64>]
  ) async throws -> Slots {
    let slots = Slots(count: operations.count)
    try await withThrowingDiscardingTaskGroup { group in
      for (index, operation) in operations.enumerated() {
        group.addTask { slots[index] = try await operation.perform(in: OperationContext()) }
      }
    }
    return slots
  }

  /// The same with tasks that start on the thread of the group's body.
  @concurrent static func immediate(
    _ operations: [any ComposableOperation<UInt64>]
  ) async throws -> Slots {
    let slots = Slots(count: operations.count)
    try await withThrowingDiscardingTaskGroup { group in
      for (index, operation) in operations.enumerated() {
        group.addImmediateTask {
          slots[index] = try await operation.perform(in: OperationContext())
        }
      }
    }
    return slots
  }

  /// A task per operation, with at most `width` tasks at a time.
  @concurrent static func window(
    _ width: Int, _ operations: [any ComposableOperation<UInt64>]
  ) async throws -> [UInt64] {
    try await withThrowingTaskGroup(of: Indexed.self) { group in
      var results = [UInt64](repeating: 0, count: operations.count)
      var next = 0
      func addTask(to group: inout ThrowingTaskGroup<Indexed, any Error>) {
        guard next < operations.count else { return }
        let (index, operation) = (next, operations[next])
        group.addTask { try await perform(operation, at: index) }
        next += 1
      }
      for _ in 0..<width { addTask(to: &group) }
      while let result = try await group.next() {
        results[result.index] = result.value
        addTask(to: &group)
      }
      return results
    }
  }

  private static func perform(_ operation: Operation, at index: Int) async throws -> Indexed {
    Indexed(index: index, value: try await operation.perform(in: OperationContext()))
  }
}
