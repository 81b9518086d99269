import CompositeOperations
import CompositeOperationsTestKit
import Testing

/// The outcome of a child in these tests.
private enum End: CaseIterable, Sendable {
  case result, error, cancelled

  func operation(_ index: Int, _ setting: Setting) -> any ComposableOperation<Int> {
    switch self {
    case .result: setting.giving(index)
    case .error: setting.failing(TestError("\(index)"))
    case .cancelled: setting.stopping()
    }
  }
}

/// An operation whose size and alignment depend on its value. Its result is the number in that.
private struct Held<Value: Sendable>: ComposableOperation {
  let value: Value

  func perform(in context: OperationContext) -> Int {
    switch value {
    case let number as Int: number
    case let number as Int128: Int(number)
    case let text as String: Int(text) ?? -1
    case let texts as [String]: Int(texts[0]) ?? -1
    case let many as (Int, String, [Int], String):
      many.0 == Int(many.1) && many.2 == [many.0] ? many.0 : -1
    case let pair as (Int128, String): pair.0 == Int128(pair.1) ? Int(pair.0) : -1
    default: -1
    }
  }
}

private final class Kept: ComposableOperation {
  private let number: Int

  init(_ number: Int) { self.number = number }

  func perform(in context: OperationContext) -> Int { number }
}

private struct Empty: ComposableOperation {
  func perform(in context: OperationContext) -> Int { 0 }
}

@Suite struct ParallelOutcomeTests {
  @Test(arguments: Setting.all)
  func `P1: results are in the order of the operations`(setting: Setting) async throws {
    for count in [1, 2, 3, 16, 17, 31, 32, 33, 200, 1_000] {
      let ends = Log<Int>()
      let operations = (0..<count).map { index in
        SimpleOperation {
          for _ in 0..<(index * 7919 % 5) { await setting.pause() }
          ends.add(index)
          return index
        }
      }
      let uniform = try await setting.run { await ParallelOperation(operations).run() }
      #expect(uniform.result == Array(0..<count))
      #expect(ends.entries.sorted() == Array(0..<count))
      let mixed: [any ComposableOperation<Int>] = operations.enumerated().map { index, operation in
        if index.isMultiple(of: 2) { return operation }
        return AnyOperation(operation)
      }
      let erased = try await setting.run { await ParallelOperation(mixed).run() }
      #expect(erased.result == Array(0..<count))
    }
  }

  @Test(arguments: Setting.all)
  func `P1: operations of one type may follow one another in a list of any types`(
    setting: Setting
  ) async throws {
    let kinds: [@Sendable (Int) -> any ComposableOperation<Int>] = [
      { Held(value: $0) }, { Held(value: "\($0)") }, { Held(value: ["\($0)"]) },
      { Held(value: ($0, "\($0)", [$0], "far more than three words")) },
      { Held(value: Int128($0)) }, { Held(value: (Int128($0), "\($0)")) }, { Kept($0) },
      { _ in Empty() },
    ]
    // The lengths of the runs of one type.
    for lengths in [[1], [2], [3, 1, 2], [64, 64], [100, 1, 1, 70, 2, 90], [1, 200, 1, 200]] {
      for first in kinds.indices {
        var children: [any ComposableOperation<Int>] = []
        var expected: [Int?] = []
        for (number, length) in lengths.enumerated() {
          for place in 0..<length {
            let index = children.count
            let kind = (first + number) % kinds.count
            let fails = place == length / 2 && length > 3
            children.append(fails ? setting.failing(TestError("\(index)")) : kinds[kind](index))
            expected.append(fails ? nil : kind == kinds.count - 1 ? 0 : index)
          }
        }
        let outcomes = try await setting.run { [children] in
          await ParallelOperation(children).collectingOutcomes().run()
        }
        #expect(outcomes.result?.map(\.result) == expected)
      }
    }
  }

  @Test(arguments: Setting.all)
  func `P1: a composite without operations has an empty result`(setting: Setting) async throws {
    let none: [SimpleOperation<Int>] = []
    let anyNone: [any ComposableOperation<Int>] = []
    #expect(try await setting.run { await ParallelOperation(none).run() }.result == [])
    #expect(try await setting.run { await ParallelOperation(anyNone).run() }.result == [])
    let lazily = ParallelOperation { none }
    #expect(try await setting.run { await lazily.run() }.result == [])
  }

  @Test(arguments: Setting.all)
  func `P1: operations of different types give a tuple in their order`(setting: Setting)
    async throws
  {
    let outcome = try await setting.run {
      await ParallelOperation(
        setting.giving(7), setting.giving("seven"), setting.giving([7.0]), setting.giving(())
      ).run()
    }
    let (number, name, list, _) = try outcome.get()
    #expect(number == 7)
    #expect(name == "seven")
    #expect(list == [7.0])
    let alone = try await setting.run { await ParallelOperation(setting.giving(7)).run() }
    #expect(alone.result == 7)
  }

  @Test(arguments: Setting.all)
  func `P2: an error takes precedence over a self-cancellation, and both over the results`(
    setting: Setting
  )
    async throws
  {
    for first in End.allCases {
      for second in End.allCases {
        for third in End.allCases {
          let ends = [first, second, third]
          let children = ends.enumerated().map { $1.operation($0, setting) }
          let outcome = try await setting.run {
            await ParallelOperation(children, onFailure: .runAll).run()
          }
          let isRight =
            if ends.contains(.error) {
              outcome.error is ParallelOperationError
            } else if ends.contains(.cancelled) {
              outcome.isCancelled
            } else {
              outcome.result == [0, 1, 2]
            }
          #expect(isRight, "\(ends): the outcome is \(outcome.kind)")
        }
      }
    }
  }

  @Test(arguments: Setting.all)
  func `P2: a cancellation from outside takes precedence over the outcomes of the children`(
    setting: Setting
  ) async throws {
    for end in End.allCases {
      let late = SimpleOperation {
        cancelCurrentTask()
        await setting.pause()
        return try await end.operation(0, setting).run().get()
      }
      let outcome = try await setting.run {
        await SimpleOperation.withContext { context in
          let done = await context.outcome(of: ParallelOperation([end.operation(0, setting)]))
          cancelCurrentTask()
          let cancelled = await context.outcome(of: ParallelOperation([late]))
          #expect(cancelled.isCancelled)
          return done.kind
        }.run()
      }
      #expect(outcome.isCancelled)
    }
  }

  @Test
  func `P2: a composite cancelled while a child runs is cancelled, whatever the other outcomes`()
    async
  {
    for end in End.allCases {
      let gate = Gate()
      let quick = end.operation(0, Setting(suspends: false, workers: .all))
      let waiting = SimpleOperation {
        await gate.passIgnoringCancellation()
        return 1
      }
      // One after another, so that the first child has ended when the second one waits.
      let operation = ParallelOperation([quick, waiting], width: .serial, onFailure: .runAll)
      let alone = operation.start()
      let nested = SimpleOperation<Void>.withContext { context in
        throw TestError(await context.outcome(of: operation).kind)
      }.start()
      await gate.waitForArrivals(2)
      alone.cancel()
      nested.cancel()
      gate.open()
      #expect(await alone.outcome.isCancelled, "\(end)")
      #expect(await nested.lateOutcome?.kind == "error cancelled", "\(end)")
    }
  }

  @Test func `P2: an error and a concurrent self-cancellation are both in the composite error`()
    async throws
  {
    let gate = Gate()
    let failing = SimpleOperation<Int> {
      await gate.passIgnoringCancellation()
      throw TestError("failed")
    }
    let stopping = SimpleOperation<Int> {
      await gate.passIgnoringCancellation()
      throw CancellationError()
    }
    let run = ParallelOperation([stopping, failing], onFailure: .runAll).start()
    await gate.waitForArrivals(2)
    gate.open()
    let error = try #require(await run.outcome.error as? ParallelOperationError)
    #expect(error.children.map(\.outcome.kind) == ["cancelled", "error failed"])
    #expect(error.children.map(\.origin) == [.itself, .itself])
  }

  @Test(arguments: Setting.all)
  func `P3: the first child without a result cancels the others`(setting: Setting) async throws {
    for end in [End.error, .cancelled] {
      for count in [2, 5, 40, 300] {
        // The gate stays closed, so the test ends only if all children are cancelled.
        let gate = Gate()
        let children: [any ComposableOperation<Int>] = (0..<count).map { index in
          index == count / 2
            ? end.operation(index, setting)
            : SimpleOperation {
              try await gate.pass()
              return index
            }
        }
        let run = ParallelOperation(children)
        let outcome = try await setting.run { await run.run() }
        #expect(outcome.result == nil)
        let error = outcome.error as? ParallelOperationError
        #expect((error != nil) == (end == .error))
        #expect(error?.failures.map(\.index) ?? [] == (end == .error ? [count / 2] : []))
      }
    }
  }

  @Test(arguments: Setting.all)
  func `P3: children that have not begun never begin`(setting: Setting) async throws {
    let begun = Log<Int>()
    let children = (0..<10).map { index in
      SimpleOperation {
        begun.add(index)
        await setting.pause()
        if index == 3 { throw TestError("failed") }
      }
    }
    let outcome = try await setting.run {
      await ParallelOperation(children, width: .serial).run()
    }
    #expect(begun.entries == [0, 1, 2, 3])
    let error = try #require(outcome.error as? ParallelOperationError)
    #expect(
      error.children.map(\.origin)
        == Array(repeating: .itself, count: 4) + Array(repeating: .neverBegan, count: 6))
  }

  @Test(arguments: Setting.all)
  func `P3: in the mode runAll, every child runs`(setting: Setting) async throws {
    for width in [OperationWidth.adaptive, .serial, .limited(to: 3)] {
      let ended = Log<Int>()
      let children = (0..<50).map { index in
        SimpleOperation {
          await setting.pause()
          ended.add(index)
          if index.isMultiple(of: 7) { throw TestError("\(index)") }
          if index.isMultiple(of: 5) { throw CancellationError() }
          return index
        }
      }
      let outcome = try await setting.run {
        await ParallelOperation(children, width: width, onFailure: .runAll).run()
      }
      #expect(ended.entries.sorted() == Array(0..<50))
      let error = try #require(outcome.error as? ParallelOperationError)
      #expect(error.failures.map(\.index).sorted() == Array(stride(from: 0, to: 50, by: 7)))
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `P3: a composite ends only when every child that began has ended`() async throws {
    let (stubborn, isCancelled) = (Gate(), Gate())
    let hasEnded = Log<Bool>()
    let run = ParallelOperation([
      SimpleOperation {
        await withTaskCancellationHandler {
          await stubborn.passIgnoringCancellation()
        } onCancel: {
          isCancelled.open()
        }
      },
      SimpleOperation {
        await stubborn.waitForArrivals(1)
        throw TestError("failed")
      },
    ]).start()
    let waiter = Task {
      let outcome = await run.outcome
      hasEnded.add(true)
      return outcome
    }
    await isCancelled.passIgnoringCancellation()
    for _ in 0..<1_000 { await Task.yield() }
    #expect(hasEnded.entries.isEmpty)
    stubborn.open()
    let error = try #require(await waiter.value.error as? ParallelOperationError)
    #expect(error.children.map(\.origin) == [.composite, .itself])
  }

  @Test(arguments: Setting.all)
  func `P3: collected outcomes contain the outcome of every child`(setting: Setting) async throws {
    let ends: [End] = [.result, .error, .cancelled, .result]
    let children = ends.enumerated().map { $1.operation($0, setting) }
    let outcomes = try await setting.run {
      try await ParallelOperation(children, onFailure: .runAll).collectingOutcomes().run().get()
    }
    #expect(outcomes.map(\.kind) == ["result 0", "error 1", "cancelled", "result 3"])
    let (number, failure) = try await setting.run {
      try await ParallelOperation(
        collectingOutcomesOf: setting.giving(1), setting.failing(giving: String.self),
        onFailure: .runAll
      ).run().get()
    }
    #expect(number.kind == "result 1")
    #expect(failure.kind == "error failed")
    let tired = try await setting.run {
      try await ParallelOperation([setting.stopping(), setting.stopping()], onFailure: .runAll)
        .collectingOutcomes().run().get()
    }
    #expect(tired.map(\.kind) == ["cancelled", "cancelled"])
  }

  @Test(arguments: Setting.all)
  func `P3: a composite that collects outcomes runs every child by default`(
    setting: Setting
  ) async throws {
    for mode in [nil, FailureMode.runAll, .cancelRemaining] {
      let began = Log<Int>()
      let children = (0..<3).map { index in
        SimpleOperation {
          began.add(index)
          await setting.pause()
          if index == 0 { throw TestError("failed") }
          return index
        }
      }
      let erased: [any ComposableOperation<Int>] = children
      let lists = [
        ParallelOperation(children, width: .serial, onFailure: mode),
        ParallelOperation(erased, width: .serial, onFailure: mode),
        ParallelOperation(width: .serial, onFailure: mode) { children },
        ParallelOperation(width: .serial, onFailure: mode) { children.stream },
        ParallelOperation(growing: children, width: .serial, onFailure: mode),
      ]
      for (number, list) in lists.enumerated() {
        began.clear()
        let outcomes = try await setting.run {
          try await list.collectingOutcomes().run().get()
        }
        let runsAll = mode != .cancelRemaining
        #expect(began.entries == (runsAll ? [0, 1, 2] : [0]), "list \(number)")
        #expect(
          outcomes.prefix(3).map(\.kind)
            == ["error failed"]
            + (runsAll ? ["result 1", "result 2"] : outcomes.dropFirst().map(\.kind))
        )
        #expect(runsAll || outcomes.dropFirst().allSatisfy(\.isCancelled))
        // Without collecting outcomes, the first failure still cancels the others.
        began.clear()
        _ = try await setting.run { await list.run() }
        #expect(began.entries == (mode == .runAll ? [0, 1, 2] : [0]), "list \(number)")
      }
      began.clear()
      let pack =
        mode.map {
          ParallelOperation(
            collectingOutcomesOf: children[0], children[1], width: .serial, onFailure: $0)
        }
        ?? ParallelOperation(collectingOutcomesOf: children[0], children[1], width: .serial)
      _ = try await setting.run { try await pack.run().get() }
      #expect(began.entries == (mode == .cancelRemaining ? [0] : [0, 1]))
    }
  }

  @Test func `P3: a cancellation from outside cancels a composite that collects outcomes`() async {
    let gate = Gate()
    let waiting = SimpleOperation { try await gate.pass() }
    let run = ParallelOperation([waiting, waiting]).collectingOutcomes().start()
    await gate.waitForArrivals(2)
    run.cancel()
    #expect(await run.outcome.isCancelled)
    let packed = ParallelOperation(collectingOutcomesOf: waiting, waiting).start()
    await gate.waitForArrivals(4)
    packed.cancel()
    #expect(await packed.outcome.isCancelled)
  }

  @Test func `O2: if discarding a value cancels the run, no further child begins`() async {
    let runs = Log<OperationRun<[[Int]]>>()
    let gate = Gate()
    let hasBegun = Flag()
    let stopping = ParallelOperation(
      [
        AnyOperation(
          SimpleOperation { 1 }.discarding { _ in for run in runs.entries { run.cancel() } }),
        AnyOperation(
          SimpleOperation<Int> {
            await gate.passIgnoringCancellation()
            throw CancellationError()
          }),
      ], width: .serial, onFailure: .runAll)
    let next = SimpleOperation {
      hasBegun.set()
      return [2]
    }
    let run = ParallelOperation(
      [AnyOperation(stopping), AnyOperation(next)], width: .serial, onFailure: .runAll
    ).start()
    runs.add(run)
    gate.open()
    #expect(await run.outcome.isCancelled)
    #expect(!hasBegun.isSet)
    runs.clear()
  }
}

extension [SimpleOperation<Int>] {
  /// The operations as an asynchronous sequence.
  fileprivate var stream: AsyncStream<SimpleOperation<Int>> {
    AsyncStream { continuation in
      for operation in self { continuation.yield(operation) }
      continuation.finish()
    }
  }
}
