internal import Synchronization

/// The helpers of the whole process: workers beside the callers, at most one less than there are
/// processors, so that composites inside composites do not flood the machine.
///
/// What is read here is a hint. No outcome and no order of results depends on it.
enum Helpers {
  /// Operations that take longer are worth waking another processor for.
  static let worthwhile = Duration.microseconds(5)

  /// When short lists were not worth a helper, how long after one they are worth the next, in
  /// nanoseconds. Beginning one takes about a microsecond, so that costs a hundredth of the time.
  private static let pause = 100_000 as Int64

  private static let hired = Atomic(0)
  private static let hopes = Atomic(64)
  /// In nanoseconds since `beginning`.
  private static let lastBeginning = Atomic<Int64>(-pause)
  private static let beginning = ContinuousClock.now

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
  static var mayBeWorthwhile: Bool {
    hopes.load(ordering: .relaxed) > 0 || now - lastBeginning.load(ordering: .relaxed) > pause
  }

  /// Notes that a short list gets a helper.
  static func begins() { lastBeginning.store(now, ordering: .relaxed) }

  /// Notes how long an operation of a short list took.
  static func note(_ duration: Duration) {
    if duration > worthwhile {
      hopes.store(64, ordering: .relaxed)
    } else if hopes.load(ordering: .relaxed) > 0 {
      hopes.wrappingSubtract(1, ordering: .relaxed)
    }
  }

  private static var now: Int64 {
    let (seconds, attoseconds) = (ContinuousClock.now - beginning).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
