import CompositeOperations

extension Shape {
  /// The twentieth Fibonacci number by a tree of calls, each of which runs its halves in parallel.
  static func tree() -> Shape {
    Shape(
      id: "fib", title: "fib(20), a tree of 21,891 calls in pairs", operations: 21_891,
      peerShapes: ["fib"],
      ways: [
        Way("array", .ours) { try await Fibonacci(number: 20).run().get() },
        Way("pack", .ours) { try await PackedFibonacci(number: 20).run().get() },
        Way("direct calls", .plain) { await called(20) },
        Way("withThrowingTaskGroup", .swift) { try await inGroups(20) },
        Way("async let", .swift) { await bound(20) },
      ])
  }

  private static func called(_ number: UInt64) async -> UInt64 {
    number < 2 ? number : await called(number - 1) &+ called(number - 2)
  }

  private static func inGroups(_ number: UInt64) async throws -> UInt64 {
    if number < 2 { return number }
    return try await withThrowingTaskGroup(of: UInt64.self) { group in
      for part in [number - 1, number - 2] { group.addTask { try await inGroups(part) } }
      var sum: UInt64 = 0
      for try await part in group { sum &+= part }
      return sum
    }
  }

  private static func bound(_ number: UInt64) async -> UInt64 {
    if number < 2 { return number }
    async let first = bound(number - 1)
    async let second = bound(number - 2)
    return await first &+ second
  }
}

private struct Fibonacci: ComposableOperation {
  let number: UInt64

  func perform(in context: OperationContext) async throws -> UInt64 {
    if number < 2 { return number }
    let halves = [Fibonacci(number: number - 1), Fibonacci(number: number - 2)]
    return try await context.run(ParallelOperation(halves)).sum
  }
}

private struct PackedFibonacci: ComposableOperation {
  let number: UInt64

  func perform(in context: OperationContext) async throws -> UInt64 {
    if number < 2 { return number }
    let (first, second) = try await context.run(
      ParallelOperation(PackedFibonacci(number: number - 1), PackedFibonacci(number: number - 2)))
    return first &+ second
  }
}
