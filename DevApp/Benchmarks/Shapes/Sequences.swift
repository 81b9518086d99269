import CompositeOperations

extension Shape {
  /// Empty operations in sequence.
  static func sequence(id: String, count: Int, peerShapes: [String] = []) -> Shape {
    Shape(
      id: id, title: "\(count.grouped) empty steps, one after another", operations: count,
      peerShapes: peerShapes,
      ways: [
        Way("all steps kept", .ours) { try await steps(count, .all) },
        Way("no step kept", .ours) { try await steps(count, .none) },
        Way("then chains of 4", .ours) { try await thenChains(count) },
        Way("retries that succeed at once", .ours) { try await retries(count) },
        Way("direct loop", .plain) {
          let context = OperationContext()
          var sum: UInt64 = 0
          for index in 0..<count { sum &+= try await mixed(index).perform(in: context) }
          return sum
        },
        Way("direct loop, records kept", .plain) { try await keptRecords(count) },
        Way("a task a step", .swift) { try await taskChain(count) },
        .blocking("the ancestor's pattern", .swift) { QueueSequence.run(count: count) },
      ] + (count > 1_000 ? [] : [dependencyChain(count)]))
  }

  // Only for short sequences, because it is quadratic.
  private static func dependencyChain(_ count: Int) -> Way {
    .blocking("OperationQueue, dependencies", .swift) { Queues.dependencies(.chain(count)) }
  }

  private static func steps(_ count: Int, _ history: StepHistory) async throws -> UInt64 {
    try await SequentialOperation(Steps(count: count, history: history)).run().get()
  }

  private static func thenChains(_ count: Int) async throws -> UInt64 {
    var sum: UInt64 = 0
    for first in stride(from: 0, to: count - count % 4, by: 4) {
      let seed = UInt64(first)
      sum &+= try await Work(seed: seed)
        .then { Addition(sum: $0, seed: seed + 1) }
        .then { Addition(sum: $0, seed: seed + 2) }
        .then { Addition(sum: $0, seed: seed + 3) }
        .run().get()
    }
    for index in count - count % 4..<count { sum &+= try await mixed(index).run().get() }
    return sum
  }

  private static func retries(_ count: Int) async throws -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count {
      let attempt = Work(seed: UInt64(index))
      sum &+= try await attempt.retrying(attempts: 3).run().get()
    }
    return sum
  }

  /// Keeps an object for each step with its operation and its result, as the history of a sequence
  /// does, and nothing else.
  @concurrent private static func keptRecords(_ count: Int) async throws -> UInt64 {
    let context = OperationContext()
    var records: [KeptRecord] = []
    for index in 0..<count {
      let operation = mixed(index)
      let value = try await operation.perform(in: context)
      records.append(KeptRecord(operation, value))
    }
    return records.reduce(0) { $0 &+ $1.value }
  }

  private final class KeptRecord: Sendable {
    let operation: any ComposableOperation<UInt64>
    let value: UInt64

    init(_ operation: any ComposableOperation<UInt64>, _ value: UInt64) {
      self.operation = operation
      self.value = value
    }
  }

  /// Runs a task per step, each started when the previous one has ended.
  @concurrent private static func taskChain(_ count: Int) async throws -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count {
      let operation = mixed(index)
      sum &+= try await Task { try await operation.perform(in: OperationContext()) }.value
    }
    return sum
  }
}
