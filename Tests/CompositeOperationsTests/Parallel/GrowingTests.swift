import CompositeOperations
import CompositeOperationsTestKit
import Testing

@Suite struct GrowingTests {
  /// Returns its number, and adds its children in a tree with a number of levels and children each.
  private struct Tree: ComposableOperation {
    let setting: Setting
    let number: Int
    let levels: Int
    let width: Int

    func perform(in context: OperationContext) async throws -> Int {
      for child in 1...width where levels > 1 {
        await setting.pause()
        try context.add(
          Tree(setting: setting, number: number * 10 + child, levels: levels - 1, width: width))
      }
      await setting.pause()
      return number
    }
  }

  @Test(arguments: Setting.all)
  func `P9: children that others add run, and their results follow`(setting: Setting)
    async throws
  {
    let trees = [
      Tree(setting: setting, number: 1, levels: 3, width: 2),
      Tree(setting: setting, number: 2, levels: 1, width: 2),
    ]
    for width in [OperationWidth.serial, .limited(to: 2), .limited(to: 64), .adaptive] {
      let operation = ParallelOperation(growing: trees, width: width)
      for _ in 0..<2 {
        let results = try await setting.run { try await operation.run().get() }
        #expect(results.prefix(2) == [1, 2])
        #expect(results.sorted() == [1, 2, 11, 12, 111, 112, 121, 122])
        // The results of children that one child adds are in the order in which it adds them.
        for (one, other) in [(11, 12), (111, 112), (121, 122)] {
          #expect(results.firstIndex(of: one)! < results.firstIndex(of: other)!)
        }
      }
    }
    let seen = Log<Int>()
    let used = ParallelOperation(growing: trees) { result in seen.add(result) }
    try await setting.run { try await used.run().get() }
    #expect(seen.entries.sorted() == [1, 2, 11, 12, 111, 112, 121, 122])
  }

  @Test func `P9: a growing composite without operations has an empty result`() async throws {
    let none: [SimpleOperation<Int>] = []
    #expect(try await ParallelOperation(growing: none).run().get() == [])
  }

  @Test func `P9: any number of children can be added, one at a time or all at once`()
    async throws
  {
    struct Next: ComposableOperation {
      let left: Int
      func perform(in context: OperationContext) throws -> Int {
        if left > 0 { try context.add(Next(left: left - 1)) }
        return left
      }
    }
    let count = Scale.isSanitized ? 2_000 : 50_000
    let chain = ParallelOperation(growing: [Next(left: count - 1)])
    #expect(try await chain.run().get() == (0..<count).reversed())
    let many = SimpleOperation.withContext { context in
      for number in 1..<count { try context.add(SimpleOperation { number }) }
      return 0
    }
    #expect(try await ParallelOperation(growing: [many]).run().get() == Array(0..<count))
  }

  @Test(arguments: Setting.all)
  func `P9: an added child fails like any other child`(setting: Setting)
    async throws
  {
    let first = SimpleOperation.withContext { context in
      try context.add(setting.giving(2))
      try context.add(setting.failing().named("third"))
      await setting.pause()
      return 1
    }
    let operation = ParallelOperation(growing: [first], width: .serial, onFailure: .runAll)
    let outcome = try await setting.run { await operation.run() }
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(error.failures.map(\.index) == [2])
    #expect(error.children.map { $0.outcome.result as? Int } == [1, 2, nil])
  }

  @Test
  func `P9: a child that adds others is cancelled with them, and waiting children never begin`()
    async
  {
    let gate = Gate()
    let begun = Log<Int>()
    let first = SimpleOperation.withContext { context in
      for number in 1...5 {
        try context.add(
          SimpleOperation {
            begun.add(number)
            try await gate.pass()
            return number
          })
      }
      try await gate.pass()
      return 0
    }
    let run = ParallelOperation(growing: [first], width: .limited(to: 3)).start()
    await gate.waitForArrivals(3)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    #expect(begun.entries.sorted() == [1, 2])
  }

  @Test func `P9: a child that is added while the composite stops never begins`() async throws {
    let gate = Gate()
    let begun = Log<Int>()
    let slow = SimpleOperation.withContext { context in
      try? await gate.pass()
      try context.add(
        SimpleOperation {
          begun.add(1)
          return 1
        })
      return 0
    }
    let failing = SimpleOperation<Int> {
      await gate.waitForArrivals(1)
      throw TestError("failed")
    }
    let outcome = await ParallelOperation(growing: [slow, failing]).run()
    #expect((outcome.error as? ParallelOperationError)?.failures.map(\.index) == [1])
    #expect(begun.count == 0)
  }

  @Test func `P9: a composite ends even if an added child is passed to a cancelled task`() async {
    // Sendable, because one child writes it before another reads it.
    @safe final class TaskOfFirst: @unchecked Sendable {
      private var task: UnsafeCurrentTask?
      func note() { unsafe withUnsafeCurrentTask { unsafe task = $0 } }
      func cancel() { unsafe task?.cancel() }
    }
    let other = TaskOfFirst()
    let gates = [Gate(), Gate()]
    let first = SimpleOperation {
      other.note()
      try await gates[0].pass()
      return 1
    }
    let second = SimpleOperation.withContext { context in
      try await gates[1].pass()
      other.cancel()
      try context.add(SimpleOperation { 3 })
      return 2
    }
    let executor = SeededExecutor(seed: 1)
    let environment = OperationEnvironment(executor: executor)
    let seen = Log<String>()
    let run = ParallelOperation(growing: [first, second], width: .limited(to: 2))
      .start(in: environment)
    let observer = Task(executorPreference: executor) {
      seen.add(await run.outcome.kind)
    }
    executor.drain()
    for gate in gates {
      #expect(gate.arrivals == 1)
      // The task that ran the first child now waits for another one.
      gate.open()
      executor.drain()
    }
    #expect(seen.entries == ["cancelled"])
    if seen.count > 0 { await observer.value }
  }

  @Test func `P9: a child is added to the nearest growing composite, from any depth`() async throws
  {
    let inner = SimpleOperation.withContext { context in
      try context.add(SimpleOperation { "added" })
      return "inner"
    }
    let nested = ParallelOperation([inner]).map { $0[0] }.named("nested").retrying(attempts: 2)
    let observer = RecordingObserver()
    for observers in [[], [observer]] {
      let operation = ParallelOperation(growing: [nested.map { [$0] }.map { $0[0] }])
      let environment = OperationEnvironment(observers: observers)
      #expect(try await operation.run(in: environment).get() == ["inner", "added"])
    }
    let outer = ParallelOperation(
      growing: [ParallelOperation(growing: [inner]).map { $0.joined(separator: " ") }])
    #expect(try await outer.run().get() == ["inner added"])
  }

  @Test func `P9: adding throws an error if the child cannot be added`() async throws {
    let kept = Log<OperationContext>()
    let first = SimpleOperation.withContext { context in
      kept.add(context)
      return 1
    }
    _ = await ParallelOperation(growing: [first]).run()
    let late = #expect(throws: ChildNotAddedError.self) {
      try kept.entries[0].add(SimpleOperation { 2 }.named("late"))
    }
    #expect(late?.reason == .hasEnded)
    #expect(
      late?.description == """
        late was not added: the composite has ended; add children from the body of a child, before \
        it returns
        """)

    let alone = await SimpleOperation.withContext { context in
      try context.add(SimpleOperation { 2 }.named("child"))
    }.run()
    #expect(
      alone.error.map(String.init(describing:)) == """
        child was not added: no enclosing composite grows; create one with \
        ParallelOperation(growing:)
        """)

    // An operation that is started in the environment of a child is part of no composite.
    let started = SimpleOperation.withContext { context in
      let adding = SimpleOperation.withContext { context in try context.add(SimpleOperation { 2 }) }
      return await adding.start(in: context.environment).outcome.error is ChildNotAddedError
    }
    #expect(await ParallelOperation(growing: [started]).run().result == [true])

    let other = await ParallelOperation(
      growing: [
        SimpleOperation.withContext { context in
          try context.add(SimpleOperation { "text" }.named("other"))
          return 1
        }
      ], onFailure: .runAll
    ).run()
    let error = (other.error as? ParallelOperationError)?.failures.first?.outcome.error
    #expect(
      error.map(String.init(describing:)) == """
        other was not added: the children of the composite return Int, but it returns String; \
        map its result
        """)
  }
}
