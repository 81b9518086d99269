import CompositeOperations
import Dispatch

extension Shape {
  /// Synchronous functions in parallel.
  static func synchronous(count: Int) -> Shape {
    let lists = OperationLists(count: count)
    let closures = Prepared {
      (0..<count).map { index -> @Sendable () -> UInt64 in
        let seed = UInt64(index)
        return { work(seed) }
      }
    }
    return Shape(
      id: "synchronous", title: "\(count.grouped) empty functions side by side", operations: count,
      ways: [
        parallel("synchronous bodies") { ParallelOperation(lists.synchronous.value) },
        .blocking("loop over closures", .plain) {
          let slots = Slots(count: count)
          for (index, closure) in closures.value.enumerated() { slots[index] = closure() }
          return slots.sum
        },
        .blocking("concurrentPerform of closures", .swift) {
          let slots = Slots(count: count)
          let closures = closures.value
          DispatchQueue.concurrentPerform(iterations: count) { slots[$0] = closures[$0]() }
          return slots.sum
        },
        .blocking("concurrentPerform of one function", .swift) {
          Queues.concurrentPerform(count: count, steps: 0)
        },
      ] + PhysicalLimit.ways(count: count))
  }
}
