import CompositeOperations
import Foundation

extension Shape {
  /// Operations that are submitted one by one from synchronous code.
  static func pool(count: Int) -> Shape {
    Shape(
      id: "pool", title: "\(count.grouped) empty operations submitted one by one",
      operations: count,
      ways: [
        Way("pool, 2 wide", .ours) {
          await submit(count, to: OperationPool(width: .limited(to: 2)))
        },
        Way("pool, 64 wide", .ours) { await submit(count, to: OperationPool()) },
        Way("start()", .ours) {
          let sum = Sum()
          let runs = (0..<count).map { index in
            SimpleOperation { sum.add(work(UInt64(index))) }.start()
          }
          for run in runs { _ = await run.outcome }
          return sum.value
        },
        Way("a task each", .swift) {
          let sum = Sum()
          let tasks = (0..<count).map { index in Task { sum.add(work(UInt64(index))) } }
          for task in tasks { await task.value }
          return sum.value
        },
        .blocking("OperationQueue, 2 wide", .swift) { Queues.added(count: count, width: 2) },
        .blocking("OperationQueue, 64 wide", .swift) { Queues.added(count: count, width: 64) },
      ])
  }

  private static func submit(_ count: Int, to pool: OperationPool) async -> UInt64 {
    let sum = Sum()
    func submitAll() {
      for index in 0..<count { pool.submitNow(SimpleOperation { sum.add(work(UInt64(index))) }) }
    }
    submitAll()
    await pool.drain()
    return sum.value
  }
}
