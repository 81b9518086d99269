import CompositeOperations
import Foundation
import Synchronization

/// Shapes that show what a shortcut for short operations could spoil: operations that take long run
/// side by side, a timeout ends in time, and short tasks are not held up.
extension Shape {
  /// Pairs of operations that compute for 30 ms, after many empty pairs of the same types.
  ///
  /// - Parameter microsecond: The steps of a body that takes a microsecond.
  static func heavyAfterLight(microsecond: Int) -> Shape {
    let steps = 30_000 * microsecond
    let pairs = 20
    return Shape(
      id: "heavy-after-light",
      title: "\(pairs) pairs of operations of 30 ms, after 1,000 empty pairs",
      operations: 2 * pairs, unit: .milliseconds,
      ways: [
        Way("array", .ours) {
          for pair in 0..<1_000 { _ = try await list(2 * pair, 2).run().get() }
          var sum: UInt64 = 0
          for pair in 0..<pairs {
            sum &+= try await list(2 * pair, 2, steps: steps).run().get().sum
          }
          return sum
        },
        ideal(count: 2 * pairs, steps: steps),
      ])
  }

  /// Eight operations of 50 ms that are independent, in every composite that has its own scheduling.
  ///
  /// - Parameter microsecond: The steps of a body that takes a microsecond.
  static func eightLong(microsecond: Int) -> Shape {
    let (count, steps) = (8, 50_000 * microsecond)
    return Shape(
      id: "eight-long", title: "\(count) independent operations of 50 ms", operations: count,
      unit: .milliseconds,
      ways: [
        Way("list", .ours) { try await list(0, count, steps: steps).run().get().sum },
        Way("lazy sequence", .ours) {
          try await ParallelOperation {
            (0..<count).lazy.map { Work(seed: UInt64($0), steps: steps) }
          }.run().get().sum
        },
        Way("graph", .ours) {
          try await OperationGraph { graph in
            (0..<count).map { graph.add(Work(seed: UInt64($0), steps: steps)) }
          }.run().get().sum
        },
        Way("pool, 2 wide", .ours) {
          let pool = OperationPool(width: .limited(to: 2))
          var runs: [OperationRun<UInt64>] = []
          for index in 0..<count {
            runs.append(await pool.submit(Work(seed: UInt64(index), steps: steps)))
          }
          var sum: UInt64 = 0
          for run in runs { sum &+= try await run.outcome.get() }
          return sum
        },
        Way("withThrowingTaskGroup", .swift) {
          try await TaskGroups.throwing((0..<count).map { mixed($0, steps: steps) }).sum
        },
        ideal(count: count, steps: steps),
      ])
  }

  /// A timeout around a body that computes and checks for cancellation.
  static func timeoutOfComputation(microsecond: Int) -> Shape {
    let limit = Duration.milliseconds(50)
    return Shape(
      id: "timeout-busy", title: "a timeout of 50 ms around a body that computes", operations: 1,
      unit: .milliseconds,
      ways: [
        Way("timingOut", .ours) {
          let start = ContinuousClock.now
          let outcome = await Computing(steps: microsecond).timingOut(after: limit).run()
          guard outcome.error is TimeoutError, ContinuousClock.now - start >= limit else {
            throw BenchmarkError("the timeout did not end the body: \(outcome)")
          }
          return 0
        }
      ])
  }

  /// Short tasks beside sequences on all cores that do not end: the longest time from the creation of a task
  /// to its end.
  static func shortBesideEndless() -> Shape {
    let count = 100
    return Shape(
      id: "short-beside-endless",
      title: "the longest of \(count) short tasks beside endless sequences on all cores",
      operations: count, unit: .milliseconds, hasEqualWays: false,
      ways: [
        longest("sequences", .ours, count) { isOver in
          _ = try await SequentialOperation(EndlessSteps(isOver: isOver)).run().get()
        },
        longest("a task a step", .swift, count) { isOver in
          while !isOver.isTrue { _ = await Task { work(1, steps: 8) }.value }
        },
      ])
  }

  private static func list(
    _ first: Int, _ size: Int, steps: Int = 0
  ) -> ParallelOperation<[UInt64]> {
    ParallelOperation((first..<first + size).map { mixed($0, steps: steps) })
  }

  /// A thread on each core, each with the same number of bodies.
  private static func ideal(count: Int, steps: Int) -> Way {
    .blocking("a thread on each core", .limit) {
      let slots = Slots(count: count)
      DispatchQueue.concurrentPerform(iterations: Cores.count) { core in
        for index in stride(from: core, to: count, by: Cores.count) {
          slots[index] = work(UInt64(index), steps: steps)
        }
      }
      return slots.sum
    }
  }

  /// Creates a way whose sample is the longest time of short tasks, started one after another while
  /// other tasks, one for each core, do not end.
  private static func longest(
    _ name: String, _ role: Way.Role, _ count: Int,
    beside body: @escaping @Sendable (Flag) async throws -> Void
  ) -> Way {
    Way(
      name, role,
      sampling: {
        let isOver = Flag()
        let endless = (0..<Cores.count).map { _ in Task { try await body(isOver) } }
        var longest = 0.0
        let sum = Sum()
        for index in 0..<count {
          let watch = Stopwatch()
          longest = max(
            longest,
            await Task {
              sum.add(work(UInt64(index)))
              return watch.nanoseconds
            }.value)
        }
        isOver.set()
        for task in endless { try await task.value }
        return Sample(amount: longest, checksum: sum.value)
      })
  }
}

/// A flag that several tasks share.
private final class Flag: Sendable {
  private let flag = Atomic(false)
  var isTrue: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

/// A sequence of short steps, up to a flag.
private struct EndlessSteps: OperationSequence {
  let isOver: Flag

  var history: StepHistory { .none }

  func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    isOver.isTrue ? nil : Work(seed: 1, steps: 8)
  }

  func output(of steps: FinishedSteps) -> Int { 0 }
}

/// An operation that computes until it is cancelled, for two seconds at most.
private struct Computing: ComposableOperation {
  let steps: Int

  func perform(in context: OperationContext) async throws -> UInt64 {
    let end = ContinuousClock.now + .seconds(2)
    var value: UInt64 = 1
    while ContinuousClock.now < end {
      value = work(value, steps: steps)
      try Task.checkCancellation()
    }
    return value
  }
}
