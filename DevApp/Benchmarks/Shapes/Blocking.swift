import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import Synchronization

extension Shape {
  /// The effect of functions that block on concurrent tasks.
  static func blocking() -> Shape {
    let count = 1_000
    return Shape(
      id: "blocking",
      title:
        "the longest of small composites beside \(count.grouped) functions that block for 2 ms",
      operations: count, unit: .milliseconds, hasEqualWays: false,
      ways: [
        beside("BlockingOperation", .ours, count) {
          _ = try await ParallelOperation(
            (0..<count).map { _ in BlockingOperation { block() } }
          ).run().get()
        },
        beside("OperationQueue, 64 at a time", .swift, count) {
          await withCheckedContinuation { continuation in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 64
            for _ in 0..<count { queue.addOperation(block) }
            queue.addBarrierBlock { continuation.resume() }
          }
        },
        beside("DispatchQueue.global()", .swift, count) {
          await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for _ in 0..<count { DispatchQueue.global().async(group: group, execute: block) }
            group.notify(queue: .global()) { continuation.resume() }
          }
        },
        beside("task group", .swift, count) {
          await withDiscardingTaskGroup { group in
            for _ in 0..<count { group.addTask(operation: { block() }) }
          }
        },
      ])
  }

  @Sendable private static func block() { usleep(2_000) }

  /// Creates a way whose sample is the longest time of the composites that run beside it.
  private static func beside(
    _ name: String, _ role: Way.Role, _ count: Int,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> Way {
    Way(
      name, role,
      sampling: {
        let blocking = Task { try await body() }
        let isOver = Atomic(false)
        let watch = Task {
          var longest = 0.0
          repeat {
            let start = ContinuousClock.now
            _ = try await ParallelOperation((0..<16).map { number in SimpleOperation { number } })
              .run().get()
            longest = max(longest, Stopwatch.nanoseconds(since: start))
          } while !isOver.load(ordering: .relaxed)
          return longest
        }
        try await blocking.value
        isOver.store(true, ordering: .relaxed)
        return Sample(amount: try await watch.value, checksum: UInt64(count))
      })
  }
}
