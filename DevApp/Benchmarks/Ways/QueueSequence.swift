import Dispatch
import Foundation
import Synchronization

/// The way in which the package's ancestor runs operations in sequence: a queue with an
/// asynchronous operation per step, whose completion block adds the next one.
final class QueueSequence: Sendable {
  private struct State {
    var begun = 0
    var sum: UInt64 = 0
  }

  private let count: Int
  private let queue = OperationQueue()
  private let state = Mutex(State())
  private let isDone = DispatchSemaphore(value: 0)

  private init(count: Int) { self.count = count }

  static func run(count: Int) -> UInt64 {
    let sequence = QueueSequence(count: count)
    sequence.addNext()
    sequence.isDone.wait()
    return sequence.state.withLock(\.sum)
  }

  private func addNext() {
    let next = state.withLock { state in
      state.begun += 1
      return state.begun - 1
    }
    if next == count {
      isDone.signal()
      return
    }
    let step = AsynchronousOperation { operation in
      let value = work(UInt64(next))
      self.state.withLock { $0.sum &+= value }
      operation.finish()
    }
    step.completionBlock = { self.addNext() }
    queue.addOperation(step)
  }
}
