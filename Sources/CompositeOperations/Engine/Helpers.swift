internal import Synchronization

/// The helpers of the whole process: workers beside the callers, at most one less than there are
/// processors, so that composites inside composites do not flood the machine.
///
/// What is read here is a hint. No outcome and no order of results depends on it.
enum Helpers {
  /// Operations that take longer, in nanoseconds, are worth waking another processor for.
  static let worthwhile: Int64 = 5_000

  /// When short lists were not worth a helper, how long after one they are worth the next, in
  /// nanoseconds. Waking a processor for nothing costs about ten microseconds, so that takes a
  /// hundredth of the time.
  private static let pause: Int64 = 1_000_000

  private static let hired = Atomic(0)
  private static let hopes = Atomic(64)
  /// By the monotonic clock.
  private static let lastBeginning = Atomic<Int64>(.min / 2)

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

  /// Whether a short list may be worth a helper: such lists were lately, or the last one that had a
  /// helper was some time ago. A list that follows on many light ones may still be a heavy one.
  ///
  /// - Parameter moment: When somebody last read the monotonic clock.
  static func mayBeWorthwhile(at moment: Int64) -> Bool {
    hopes.load(ordering: .relaxed) > 0 || moment - lastBeginning.load(ordering: .relaxed) > pause
  }

  /// Notes that a short list gets a helper.
  static func begins() { lastBeginning.store(MonotonicTime.now, ordering: .relaxed) }

  /// Notes how many nanoseconds an operation of a short list took.
  static func note(_ nanoseconds: Int64) {
    if nanoseconds > worthwhile {
      // Few, because a light operation takes long, too, when its thread is interrupted.
      if hopes.load(ordering: .relaxed) < 64 { hopes.wrappingAdd(4, ordering: .relaxed) }
    } else if hopes.load(ordering: .relaxed) > 0 {
      hopes.wrappingSubtract(1, ordering: .relaxed)
    }
  }
}
