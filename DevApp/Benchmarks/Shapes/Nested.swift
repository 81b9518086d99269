import CompositeOperations
import Dispatch

extension Shape {
  /// A list of lists of empty operations, with as many operations in each as there are lists.
  static func nested(count: Int) -> Shape {
    let side = Int(Double(count).squareRoot())
    let lists = Prepared {
      (0..<side).map { row in (0..<side).map { mixed(row * side + $0) } }
    }
    let any = Prepared { ParallelOperation(lists.value.map { ParallelOperation($0) }) }
    let generic = Prepared {
      ParallelOperation(
        (0..<side).map { row in
          ParallelOperation((0..<side).map { Work(seed: UInt64(row * side + $0)) })
        })
    }
    return Shape(
      id: "nested", title: "\(side) lists of \(side) empty operations", operations: side * side,
      peerShapes: ["nested"],
      ways: [
        Way("any", .ours) { try await any.value.run().get().reduce(0) { $0 &+ $1.sum } },
        Way("generic", .ours) { try await generic.value.run().get().reduce(0) { $0 &+ $1.sum } },
        Way("direct loop", .plain) {
          var sum: UInt64 = 0
          for list in lists.value { sum &+= try await DirectLoop.run(list).sum }
          return sum
        },
        Way("withThrowingTaskGroup", .swift) {
          try await withThrowingTaskGroup(of: UInt64.self) { group in
            for list in lists.value { group.addTask { try await TaskGroups.throwing(list).sum } }
            var sum: UInt64 = 0
            for try await part in group { sum &+= part }
            return sum
          }
        },
        Way("discarding task group", .swift) {
          let slots = Slots(count: side)
          try await withThrowingDiscardingTaskGroup { group in
            for (row, list) in lists.value.enumerated() {
              group.addTask { slots[row] = try await TaskGroups.discarding(list).sum }
            }
          }
          return slots.sum
        },
        .blocking("concurrentPerform", .swift) {
          let slots = Slots(count: side * side)
          DispatchQueue.concurrentPerform(iterations: side) { row in
            DispatchQueue.concurrentPerform(iterations: side) { column in
              let index = row * side + column
              slots[index] = work(UInt64(index))
            }
          }
          return slots.sum
        },
      ])
  }
}
