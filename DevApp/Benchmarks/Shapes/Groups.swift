import CompositeOperations
import Foundation

extension Shape {
  /// Two empty operations in parallel, many times in a row.
  static func pairs(count: Int) -> Shape {
    groups(
      of: 2, id: "pairs", count: count,
      others: [
        repeated("pack", .ours, of: 2, count) { first in
          let (one, two) = try await ParallelOperation(
            Work(seed: UInt64(first)), OtherWork(seed: UInt64(first + 1))
          ).run().get()
          return one &+ two
        },
        repeated("async let", .swift, of: 2, count) { first in
          async let one = mixed(first).perform(in: OperationContext())
          async let two = mixed(first + 1).perform(in: OperationContext())
          return try await one &+ two
        },
      ])
  }

  /// Eight empty operations in parallel, many times in a row.
  static func eights(count: Int) -> Shape {
    groups(
      of: 8, id: "eights", count: count,
      others: [
        repeated("async let", .swift, of: 8, count) { first in
          async let one = mixed(first).perform(in: OperationContext())
          async let two = mixed(first + 1).perform(in: OperationContext())
          async let three = mixed(first + 2).perform(in: OperationContext())
          async let four = mixed(first + 3).perform(in: OperationContext())
          async let five = mixed(first + 4).perform(in: OperationContext())
          async let six = mixed(first + 5).perform(in: OperationContext())
          async let seven = mixed(first + 6).perform(in: OperationContext())
          async let eight = mixed(first + 7).perform(in: OperationContext())
          let left = try await one &+ two &+ three &+ four
          let right = try await five &+ six &+ seven &+ eight
          return left &+ right
        }
      ])
  }

  /// Pairs of operations that compute for 30 ms, each after 100 empty pairs of the same types.
  ///
  /// - Parameter steps: The steps of a body that takes 30 ms.
  static func pairsAfterLight(steps: Int) -> Shape {
    let pairs = 20
    return Shape(
      id: "pairs-after-light",
      title: "\(pairs) pairs of operations of 30 ms, each after 100 pairs of empty ones",
      operations: 2 * pairs, unit: .milliseconds,
      ways: [
        afterLight("array", .ours, pairs, steps) { first, steps in
          try await ParallelOperation(list(first, 2, steps: steps)).run().get().sum
        },
        afterLight("pack", .ours, pairs, steps) { first, steps in
          let one = Work(seed: UInt64(first), steps: steps)
          let two = OtherWork(seed: UInt64(first + 1), steps: steps)
          let values = try await ParallelOperation(one, two).run().get()
          return values.0 &+ values.1
        },
        afterLight("made lazily", .ours, pairs, steps) { first, steps in
          try await ParallelOperation { list(first, 2, steps: steps).lazy.map { AnyOperation($0) } }
            .run().get().sum
        },
        afterLight("direct loop", .plain, pairs, steps) { first, steps in
          try await DirectLoop.run(list(first, 2, steps: steps)).sum
        },
        afterLight("withThrowingTaskGroup", .swift, pairs, steps) { first, steps in
          try await TaskGroups.throwing(list(first, 2, steps: steps)).sum
        },
      ])
  }

  private static func afterLight(
    _ name: String, _ role: Way.Role, _ pairs: Int, _ steps: Int,
    _ body: @escaping @Sendable (_ first: Int, _ steps: Int) async throws -> UInt64
  ) -> Way {
    Way(name, role) {
      var sum: UInt64 = 0
      for pair in 0..<pairs {
        for light in 0..<100 { sum &+= try await body(2 * light, 0) }
        sum &+= try await body(2 * pair, steps)
      }
      return sum
    }
  }

  private static func groups(of size: Int, id: String, count: Int, others: [Way]) -> Shape {
    Shape(
      id: id, title: "\((count / size).grouped) times \(size) empty operations side by side",
      operations: count / size * size, peerShapes: [id],
      ways: [
        repeated("array", .ours, of: size, count) { first in
          try await ParallelOperation(list(first, size)).run().get().sum
        }
      ] + others + [
        repeated("direct loop", .plain, of: size, count) { first in
          try await DirectLoop.run(list(first, size)).sum
        },
        repeated("withThrowingTaskGroup", .swift, of: size, count) { first in
          try await TaskGroups.throwing(list(first, size)).sum
        },
        repeated("discarding task group", .swift, of: size, count) { first in
          try await TaskGroups.discarding(list(first, size)).sum
        },
        repeated("discarding group, immediate tasks", .swift, of: size, count) { first in
          try await TaskGroups.immediate(list(first, size)).sum
        },
        repeated(MinimalComposite.name, .limit, of: size, count) { first in
          try await MinimalComposite(children: list(first, size)).run().get().sum
        },
        .blocking("concurrentPerform", .swift) {
          var sum: UInt64 = 0
          for first in stride(from: 0, to: count / size * size, by: size) {
            let slots = Slots(count: size)
            DispatchQueue.concurrentPerform(iterations: size) { index in
              slots[index] = work(UInt64(first + index))
            }
            sum &+= slots.sum
          }
          return sum
        },
        .blocking("OperationQueue, blocks", .swift) {
          let queue = OperationQueue()
          var sum: UInt64 = 0
          for first in stride(from: 0, to: count / size * size, by: size) {
            let slots = Slots(count: size)
            let operations = (0..<size).map { index in
              BlockOperation { slots[index] = work(UInt64(first + index)) }
            }
            queue.addOperations(operations, waitUntilFinished: true)
            sum &+= slots.sum
          }
          return sum
        },
      ])
  }

  private static func list(
    _ first: Int, _ size: Int, steps: Int = 0
  ) -> [any ComposableOperation<UInt64>] {
    (first..<first + size).map { mixed($0, steps: steps) }
  }

  private static func repeated(
    _ name: String, _ role: Way.Role, of size: Int, _ count: Int,
    _ body: @escaping @Sendable (_ first: Int) async throws -> UInt64
  ) -> Way {
    Way(name, role) {
      var sum: UInt64 = 0
      for first in stride(from: 0, to: count / size * size, by: size) {
        sum &+= try await body(first)
      }
      return sum
    }
  }
}
