internal import Synchronization

/// Places of which each belongs to one task at a time.
struct Places: ~Copyable, Sendable {
  private let free: Atomic<Int>

  init(_ count: Int) { free = Atomic(count) }

  /// Whether a place is free now.
  var isFree: Bool { free.load(ordering: .relaxed) > 0 }

  /// Takes a place if one is free. ``leave()`` frees it again.
  ///
  /// - Returns: The number of places that were free before; nil if there were none.
  func take() -> Int? {
    var now = free.load(ordering: .relaxed)
    while now > 0 {
      let (isDone, seen) = free.weakCompareExchange(
        expected: now, desired: now - 1, ordering: .relaxed)
      if isDone { return now }
      now = seen
    }
    return nil
  }

  func leave() { free.wrappingAdd(1, ordering: .relaxed) }
}
