internal import CompositeOperations
internal import Dispatch

/// A semaphore that blocks the thread of a connection.
final class Semaphore: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() { semaphore.wait() }

  func signal() { semaphore.signal() }
}

/// A number that threads increment.
final class Counter: Sendable {
  private let number = Lock(0)

  var value: Int { number.withLock { $0 } }

  @discardableResult func increment() -> Int {
    number.withLock {
      $0 += 1
      return $0
    }
  }
}
