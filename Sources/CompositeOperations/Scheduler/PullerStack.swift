internal import Synchronization

/// The puller that runs on the stack of the task that starts pullers.
///
/// A puller starts as an immediate task, on the thread of the starting task. Until one of its
/// children first suspends, the puller can return the thread by ending. After that it has a thread
/// of its own, and other tasks can rely on it to continue.
struct PullerStack: ~Copyable, Sendable {
  private let begun = Atomic<UInt64>(0)
  private let onStack = Atomic<UInt64>(0)

  /// Registers a new puller.
  ///
  /// - Returns: Its number, for ``holds(_:)``.
  func pullerBegins() -> UInt64 {
    let number = begun.wrappingAdd(1, ordering: .relaxed).newValue
    onStack.store(number, ordering: .relaxed)
    return number
  }

  /// Records that the task that started the puller has its thread back.
  func pullerReturned() { onStack.store(0, ordering: .relaxed) }

  /// The number of the puller that is on the stack; 0 if none is.
  var current: UInt64 { onStack.load(ordering: .relaxed) }

  func holds(_ puller: UInt64) -> Bool { onStack.load(ordering: .relaxed) == puller }
}
