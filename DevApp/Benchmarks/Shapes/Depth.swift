import CompositeOperations

extension Shape {
  /// Nested composites of one operation each.
  static func deep() -> Shape {
    let levels = 1_000
    let times = 20
    let tower = Prepared { () -> any ComposableOperation<UInt64> in
      (0..<levels).reduce(Work(seed: 0) as any ComposableOperation<UInt64>) { below, _ in
        Level(below: below)
      }
    }
    let minimalTower = Prepared { () -> any ComposableOperation<UInt64> in
      (0..<levels).reduce(Work(seed: 0) as any ComposableOperation<UInt64>) { below, _ in
        MinimalLevel(below: below)
      }
    }
    @Sendable func repeated(
      _ body: @Sendable () async throws -> UInt64
    ) async throws -> UInt64 {
      var sum: UInt64 = 0
      for _ in 0..<times { sum &+= try await body() }
      return sum
    }
    return Shape(
      id: "deep", title: "\(levels.grouped) composites of one, within one another, \(times) times",
      operations: levels * times,
      ways: [
        Way("any", .ours) {
          try await repeated { try await OperationContext().run(AnyOperation(tower.value)) }
        },
        Way("direct calls", .plain) { try await repeated { await called(levels) } },
        Way("withThrowingTaskGroup", .swift) { try await repeated { try await inGroups(levels) } },
        Way("discarding group, immediate tasks", .swift) {
          try await repeated { try await inImmediateTasks(tower.value) }
        },
        Way("async let", .swift) { try await repeated { await bound(levels) } },
        Way(MinimalComposite.name, .limit) {
          try await repeated {
            try await OperationContext().run(AnyOperation(minimalTower.value))
          }
        },
      ])
  }

  @concurrent private static func called(_ levels: Int) async -> UInt64 {
    levels == 0 ? 0 : await called(levels - 1) &+ 1
  }

  private static func inGroups(_ levels: Int) async throws -> UInt64 {
    if levels == 0 { return 0 }
    return try await withThrowingTaskGroup(of: UInt64.self) { group in
      group.addTask { try await inGroups(levels - 1) }
      return (try await group.next() ?? 0) &+ 1
    }
  }

  /// Each level has a task of its own, on the thread of the level above, and stores its result.
  private static func inImmediateTasks(
    _ operation: any ComposableOperation<UInt64>
  ) async throws -> UInt64 {
    guard let level = operation as? Level else {
      return try await operation.perform(in: OperationContext())
    }
    let slots = Slots(count: 1)
    try await withThrowingDiscardingTaskGroup { group in
      group.addImmediateTask { slots[0] = try await inImmediateTasks(level.below) }
    }
    return slots[0] &+ 1
  }

  private static func bound(_ levels: Int) async -> UInt64 {
    if levels == 0 { return 0 }
    async let below = bound(levels - 1)
    return await below &+ 1
  }
}

private struct Level: ComposableOperation {
  let below: any ComposableOperation<UInt64>

  func perform(in context: OperationContext) async throws -> UInt64 {
    try await context.run(ParallelOperation([below])).sum &+ 1
  }
}

private struct MinimalLevel: ComposableOperation {
  let below: any ComposableOperation<UInt64>

  func perform(in context: OperationContext) async throws -> UInt64 {
    try await context.run(MinimalComposite(children: [below])).sum &+ 1
  }
}
