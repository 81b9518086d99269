import CompositeOperations
import Foundation
import OperationTracing
import Synchronization

/// Shapes that resemble programs: waits, failures, retries, observers, many composites at once, and
/// bursts.
extension Shape {
  /// Children that wait 1 ms. A tenth of them fail and are retried. Counters observe all of it.
  static func fetches() -> Shape {
    let count = 2_000
    let fetches = Prepared {
      ParallelOperation(
        (0..<count).map { Fetch(index: $0, attempts: Attempts()).retrying(attempts: 3) })
    }
    return Shape(
      id: "fetches",
      title: "\(count.grouped) waits of 1 ms, a tenth of which fail and are retried, counted",
      operations: count,
      ways: [
        Way("list with counters", .ours) {
          let environment = OperationEnvironment(observers: [OperationCounters()])
          return try await fetches.value.run(in: environment).get().sum
        },
        Way("list without counters", .ours) { try await fetches.value.run().get().sum },
        Way("withThrowingTaskGroup, loops and counts", .swift) {
          let counts = (begun: Sum(), failed: Sum(), ended: Sum())
          return try await withThrowingTaskGroup(of: UInt64.self) { group in
            for index in 0..<count {
              group.addTask {
                counts.begun.add(1)
                defer { counts.ended.add(1) }
                let attempts = Attempts()
                for _ in 1..<3 {
                  do { return try await fetched(index, attempts) } catch { counts.failed.add(1) }
                }
                return try await fetched(index, attempts)
              }
            }
            var sum: UInt64 = 0
            for try await value in group { sum &+= value }
            return sum
          }
        },
      ])
  }

  /// 64 tasks, each of which runs composites of eight empty operations, one after another.
  static func crowded(count: Int) -> Shape {
    let tasks = 64
    let times = max(1, count / tasks / 8)
    @Sendable func operations(_ number: Int) -> [any ComposableOperation<UInt64>] {
      (8 * number..<8 * number + 8).map { mixed($0) }
    }
    @Sendable func inAllTasks(
      _ body: @escaping @Sendable ([any ComposableOperation<UInt64>]) async throws -> UInt64
    ) async throws -> UInt64 {
      try await withThrowingTaskGroup(of: UInt64.self) { group in
        for task in 0..<tasks {
          group.addTask {
            var sum: UInt64 = 0
            for time in 0..<times { sum &+= try await body(operations(task * times + time)) }
            return sum
          }
        }
        var sum: UInt64 = 0
        for try await part in group { sum &+= part }
        return sum
      }
    }
    return Shape(
      id: "crowded",
      title: "\(tasks) tasks, each \(times.grouped) times 8 empty operations side by side",
      operations: tasks * times * 8,
      ways: [
        Way("list", .ours) {
          try await inAllTasks { try await ParallelOperation($0).run().get().sum }
        },
        Way("direct loop", .plain) { try await inAllTasks { try await DirectLoop.run($0).sum } },
        Way("withThrowingTaskGroup", .swift) {
          try await inAllTasks { try await TaskGroups.throwing($0).sum }
        },
        Way("discarding task group", .swift) {
          try await inAllTasks { try await TaskGroups.discarding($0).sum }
        },
      ])
  }

  /// Bursts of operations for one pool, each submitted when the pool has drained.
  static func bursts() -> Shape {
    let (bursts, size) = (100, 1_000)
    return Shape(
      id: "bursts",
      title: "\(bursts) bursts of \(size.grouped) empty operations, submitted one by one",
      operations: bursts * size,
      ways: [
        Way("pool, 64 wide", .ours) {
          let sum = Sum()
          let pool = OperationPool()
          func submit(_ burst: Int) {
            for index in 0..<size {
              pool.submitNow(SimpleOperation { sum.add(work(UInt64(burst * size + index))) })
            }
          }
          for burst in 0..<bursts {
            submit(burst)
            await pool.drain()
          }
          return sum.value
        },
        Way("a task each", .swift) {
          let sum = Sum()
          for burst in 0..<bursts {
            let tasks = (0..<size).map { index in
              Task { sum.add(work(UInt64(burst * size + index))) }
            }
            for task in tasks { await task.value }
          }
          return sum.value
        },
        .blocking("OperationQueue, 64 wide", .swift) {
          let slots = Slots(count: bursts * size)
          let queue = OperationQueue()
          queue.maxConcurrentOperationCount = 64
          for burst in 0..<bursts {
            for index in burst * size..<(burst + 1) * size {
              queue.addOperation { slots[index] = work(UInt64(index)) }
            }
            queue.waitUntilAllOperationsAreFinished()
          }
          return slots.sum
        },
      ])
  }

  /// Waits 1 ms. The first attempt of every tenth index fails.
  fileprivate static func fetched(_ index: Int, _ attempts: Attempts) async throws -> UInt64 {
    try await Task.sleep(for: .milliseconds(1))
    if index.isMultiple(of: 10), attempts.isFirst() { throw Unavailable() }
    return UInt64(index)
  }
}

private struct Unavailable: Error {}

private struct Fetch: ComposableOperation {
  let index: Int
  let attempts: Attempts

  func perform(in context: OperationContext) async throws -> UInt64 {
    try await Shape.fetched(index, attempts)
  }
}

/// A count of attempts. An operation that fails once takes two of them each time.
private final class Attempts: Sendable {
  private let count = Atomic(0)

  func isFirst() -> Bool { count.wrappingAdd(1, ordering: .relaxed).oldValue.isMultiple(of: 2) }
}
