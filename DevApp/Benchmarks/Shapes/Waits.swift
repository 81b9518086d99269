import CompositeOperations
import Dispatch
import Foundation

extension Shape {
  /// Operations that sleep, all at once: the wall time.
  static func sleep() -> Shape {
    let count = 1_000
    let list = Prepared { (0..<count).map { Sleep(index: $0) as any ComposableOperation<UInt64> } }
    return Shape(
      id: "sleep", title: "\(count.grouped) operations that sleep 10 ms", operations: count,
      unit: .milliseconds, peerShapes: ["sleep"],
      ways: waits(list) + [
        .blocking("OperationQueue, asynchronous", .swift) {
          let slots = Slots(count: count)
          let operations = (0..<count).map { index in
            AsynchronousOperation { operation in
              DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) {
                slots[index] = UInt64(index)
                operation.finish()
              }
            }
          }
          OperationQueue().addOperations(operations, waitUntilFinished: true)
          return slots.sum
        },
        .blocking("DispatchGroup, asyncAfter", .swift) {
          let slots = Slots(count: count)
          let group = DispatchGroup()
          for index in 0..<count {
            group.enter()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) {
              slots[index] = UInt64(index)
              group.leave()
            }
          }
          group.wait()
          return slots.sum
        },
      ])
  }

  /// Operations that sleep between two pieces of work.
  static func mixedWaits() -> Shape {
    let count = 2_000
    let list = Prepared { (0..<count).map { Nap(index: $0) as any ComposableOperation<UInt64> } }
    return Shape(
      id: "mixed",
      title: "\(count.grouped) operations: 10 µs of work, 1 ms of sleep, 10 µs of work",
      operations: count, ways: waits(list) + PhysicalLimit.ways(count: count, steps: 2 * Nap.steps))
  }

  /// Creates ways for a list of operations that wait, with this package and with task groups.
  static func waits(_ list: Prepared<[any ComposableOperation<UInt64>]>) -> [Way] {
    [
      parallel("any") { ParallelOperation(list.value) },
      Way("withThrowingTaskGroup", .swift) { try await TaskGroups.throwing(list.value).sum },
      Way("discarding task group", .swift) { try await TaskGroups.discarding(list.value).sum },
      Way("discarding group, immediate tasks", .swift) {
        try await TaskGroups.immediate(list.value).sum
      },
    ]
  }
}

private struct Sleep: ComposableOperation {
  let index: Int

  func perform(in context: OperationContext) async throws -> UInt64 {
    try await Task.sleep(for: .milliseconds(10))
    return UInt64(index)
  }
}

private struct Nap: ComposableOperation {
  /// About 10 µs.
  static let steps = 8_000

  let index: Int

  func perform(in context: OperationContext) async throws -> UInt64 {
    let half = work(UInt64(index), steps: Self.steps)
    try await Task.sleep(for: .milliseconds(1))
    return work(half, steps: Self.steps)
  }
}
