import CompositeOperations

/// Lets tasks wait for a number of events.
final class Latch: Sendable {
  private let count = Lock(0)

  func note() { count.withLock { $0 += 1 } }

  var value: Int { count.withLock(\.self) }

  /// Waits until a number of events have happened.
  func wait(for number: Int = 1) async { while value < number { await Task.yield() } }
}
