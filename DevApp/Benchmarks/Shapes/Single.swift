import CompositeOperations

extension Shape {
  /// One operation at a time, in every way to run one.
  static func single(count: Int) -> Shape {
    let context = OperationContext()
    return Shape(
      id: "single", title: "one operation, \(count.grouped) times", operations: count,
      hasEqualWays: false,
      ways: [
        each("run()", .ours, count) { try await $0.run().get() },
        Way("context.run", .ours) { try await OneAfterAnother(count: count).perform(in: context) },
        each("perform", .ours, count) { try await $0.perform(in: context) },
        each("start().outcome", .ours, count) { try await $0.start().outcome.get() },
        each("asynchronous function", .plain, count) { try await called($0) },
        each("Task.value", .swift, count) { operation in
          try await Task { try await operation.perform(in: OperationContext()) }.value
        },
      ])
  }

  @concurrent @inline(never) private static func called(_ operation: Work) async throws -> UInt64 {
    work(operation.seed)
  }

  private static func each(
    _ name: String, _ role: Way.Role, _ count: Int,
    _ body: @escaping @Sendable (Work) async throws -> UInt64
  ) -> Way {
    Way(name, role) {
      var sum: UInt64 = 0
      for index in 0..<count { sum &+= try await body(Work(seed: UInt64(index))) }
      return sum
    }
  }
}

/// A body that runs its children directly, one after another.
private struct OneAfterAnother: ComposableOperation {
  let count: Int

  func perform(in context: OperationContext) async throws -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count { sum &+= try await context.run(Work(seed: UInt64(index))) }
    return sum
  }
}
