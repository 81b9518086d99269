import CompositeOperations
import Foundation

extension Shape {
  /// Operations that wait on a continuation until all of them wait.
  static func continuations() -> Shape {
    crowd(
      id: "continuations", title: "20,000 operations that wait on a continuation",
      order: Array(0..<20_000))
  }

  static func endingInOrder() -> Shape {
    crowd(
      id: "ending-in-order", title: "10,000 waiting operations that end in order",
      order: Array(0..<10_000))
  }

  static func endingInReverse() -> Shape {
    crowd(
      id: "ending-in-reverse", title: "10,000 waiting operations that end in reverse",
      order: (0..<10_000).reversed())
  }

  static func endingAtRandom() -> Shape {
    var randomness = OperationRandomness.seeded(7)
    return crowd(
      id: "ending-at-random", title: "10,000 waiting operations that end in a random order",
      order: (0..<10_000).shuffled(using: &randomness))
  }

  private static func crowd(id: String, title: String, order: [Int]) -> Shape {
    let crowd = Prepared { Crowd(order: order) }
    let list = Prepared {
      order.indices.map { index in
        Waiting(index: index, crowd: crowd.value) as any ComposableOperation<UInt64>
      }
    }
    return Shape(
      id: id, title: title, operations: order.count,
      ways: waits(list) + [
        .blocking("OperationQueue, asynchronous", .swift) {
          let slots = Slots(count: order.count)
          let operations = order.indices.map { index in
            AsynchronousOperation { operation in
              crowd.value.wait(at: index) {
                slots[index] = UInt64(index)
                operation.finish()
              }
            }
          }
          OperationQueue().addOperations(operations, waitUntilFinished: true)
          return slots.sum
        }
      ])
  }
}
