internal import Synchronization

/// The helpers of the whole process: workers beside the callers, at most one less than there are
/// processors, so that composites inside composites do not flood the machine.
///
/// What is read here is a hint. No outcome and no order of results depends on it.
enum Helpers {
  /// Operations that take longer are worth waking another processor for.
  static let worthwhile = Duration.microseconds(5)

  private static let hired = Atomic(0)
  private static let hopes = Atomic(64)

  static var isAvailable: Bool { hired.load(ordering: .relaxed) < Processors.count - 1 }

  static func hire() -> Bool {
    var now = hired.load(ordering: .relaxed)
    while now < Processors.count - 1 {
      let (isDone, seen) = hired.weakCompareExchange(
        expected: now, desired: now + 1, ordering: .relaxed)
      if isDone { return true }
      now = seen
    }
    return false
  }

  static func release() { hired.wrappingSubtract(1, ordering: .relaxed) }

  /// Whether operations of short lists have been worth a helper lately.
  static var wereWorthwhile: Bool { hopes.load(ordering: .relaxed) > 0 }

  /// Notes how long an operation of a short list took.
  static func note(_ duration: Duration) {
    if duration > worthwhile {
      hopes.store(64, ordering: .relaxed)
    } else if wereWorthwhile {
      hopes.wrappingSubtract(1, ordering: .relaxed)
    }
  }
}
