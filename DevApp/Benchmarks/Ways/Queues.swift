import Dispatch
import Foundation

/// Common solutions with the queues of Foundation and Dispatch.
enum Queues {
  static func blockOperations(count: Int, steps: Int) -> UInt64 {
    let slots = Slots(count: count)
    let operations = (0..<count).map { index in
      BlockOperation { slots[index] = work(UInt64(index), steps: steps) }
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
    return slots.sum
  }

  static func asynchronousOperations(count: Int, steps: Int) -> UInt64 {
    let slots = Slots(count: count)
    let operations = (0..<count).map { index in
      AsynchronousOperation { operation in
        slots[index] = work(UInt64(index), steps: steps)
        operation.finish()
      }
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
    return slots.sum
  }

  /// Blocks that are added one by one.
  static func added(count: Int, width: Int) -> UInt64 {
    let slots = Slots(count: count)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    for index in 0..<count { queue.addOperation { slots[index] = work(UInt64(index)) } }
    queue.waitUntilAllOperationsAreFinished()
    return slots.sum
  }

  /// Blocks that depend on one another.
  static func dependencies(_ dependencies: Dependencies) -> UInt64 {
    let slots = Slots(count: dependencies.count)
    let operations = (0..<dependencies.count).map { index in
      BlockOperation { slots[index] = work(UInt64(index)) }
    }
    for (operation, needs) in zip(operations, dependencies.needs) {
      for need in needs { operation.addDependency(operations[need]) }
    }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
    return slots.sum
  }

  static func concurrentPerform(count: Int, steps: Int) -> UInt64 {
    let slots = Slots(count: count)
    DispatchQueue.concurrentPerform(iterations: count) { index in
      slots[index] = work(UInt64(index), steps: steps)
    }
    return slots.sum
  }

  static func dispatchGroup(count: Int, steps: Int) -> UInt64 {
    let slots = Slots(count: count)
    let group = DispatchGroup()
    let queue = DispatchQueue.global()
    for index in 0..<count {
      queue.async(group: group) { slots[index] = work(UInt64(index), steps: steps) }
    }
    group.wait()
    return slots.sum
  }
}
