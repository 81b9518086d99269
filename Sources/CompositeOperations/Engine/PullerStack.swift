internal import Synchronization

/// Which puller runs on the stack of whoever begins pullers.
///
/// A puller begins as an immediate task, on the thread of the one that begins it. Until a child of
/// it waits for the first time it can give the thread back by returning; from then on it has a
/// thread of its own, and others may rely on its going on.
struct PullerStack: ~Copyable, Sendable {
  private let begun = Atomic<UInt64>(0)
  private let onStack = Atomic<UInt64>(0)

  /// - Returns: The number by which the new puller knows whether it is on the stack.
  func pullerBegins() -> UInt64 {
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    onStack.store(number, ordering: .relaxed)
    return number
  }

  /// The one that began the puller has its thread back.
  func pullerReturned() { onStack.store(0, ordering: .relaxed) }

  /// The number of the puller that is on the stack; 0 if none is.
  var current: UInt64 { onStack.load(ordering: .relaxed) }

  func holds(_ puller: UInt64) -> Bool { onStack.load(ordering: .relaxed) == puller }
}
