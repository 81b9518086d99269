internal import Synchronization

/// One worker's share of the children, and the puller that occupies the worker's thread.
///
/// The remaining children are one word: the owner takes from the front, other workers from the
/// back. Padded to two cache lines, because processors fetch lines in pairs.
struct Lane: ~Copyable {
  private typealias Line = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  /// The lower bound of the indices in the low half, the upper bound in the high half.
  private let bounds: Atomic<UInt64>
  let stack = PullerStack()
  private let padding: (Line, UInt64, UInt64, UInt64, UInt64, UInt64) = (
    (0, 0, 0, 0, 0, 0, 0, 0), 0, 0, 0, 0, 0
  )

  init(_ indices: Range<Int>) {
    bounds = Atomic(UInt64(indices.lowerBound) | UInt64(indices.upperBound) << 32)
  }

  var left: Int {
    let now = bounds.load(ordering: .relaxed)
    return Int(UInt32(truncatingIfNeeded: now >> 32)) - Int(UInt32(truncatingIfNeeded: now))
  }

  @inline(__always) func takeFirst() -> Int? {
    var old = bounds.load(ordering: .relaxed)
    while true {
      let first = UInt32(truncatingIfNeeded: old)
      if first >= UInt32(truncatingIfNeeded: old >> 32) { return nil }
      let (isDone, seen) = bounds.weakCompareExchange(
        expected: old, desired: old &+ 1, ordering: .relaxed)
      if isDone { return Int(first) }
      old = seen
    }
  }

  func takeLast() -> Int? {
    var old = bounds.load(ordering: .relaxed)
    while true {
      let end = UInt32(truncatingIfNeeded: old >> 32)
      if UInt32(truncatingIfNeeded: old) >= end { return nil }
      let (isDone, seen) = bounds.weakCompareExchange(
        expected: old, desired: old &- (1 << 32), ordering: .relaxed)
      if isDone { return Int(end) - 1 }
      old = seen
    }
  }
}

/// The puller that runs on the stack of the task that starts pullers.
///
/// A puller starts as an immediate task, on the thread of the starting task. Until one of its
/// children first suspends, the puller can return the thread by ending. After that it has a thread
/// of its own, and other tasks can rely on it to continue.
struct PullerStack: ~Copyable, Sendable {
  private static var turnHasEnded: UInt64 { .max }

  private let begun = Atomic<UInt64>(0)
  private let onStack = Atomic<UInt64>(0)

  /// Registers a new puller.
  ///
  /// - Returns: Its number.
  func pullerBegins() -> UInt64 {
    let number = newNumber()
    onStack.store(number, ordering: .relaxed)
    return number
  }

  private func newNumber() -> UInt64 { begun.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Gives the puller on the stack another number, which shows that its children end.
  ///
  /// - Returns: The new number; nil if the puller is not on the stack any more.
  func renumber(_ puller: UInt64) -> UInt64? {
    let number = newNumber()
    return replace(puller, with: number) ? number : nil
  }

  /// Records that the puller on the stack ends because others must run.
  ///
  /// - Returns: Whether the puller is on the stack.
  func endTurn(of puller: UInt64) -> Bool { replace(puller, with: Self.turnHasEnded) }

  private func replace(_ puller: UInt64, with number: UInt64) -> Bool {
    onStack.compareExchange(expected: puller, desired: number, ordering: .relaxed).exchanged
  }

  /// Records that the task that started the puller has its thread back.
  ///
  /// - Returns: Whether the puller has ended because others must run.
  func pullerReturned() -> Bool {
    let hasTurnEnded = onStack.load(ordering: .relaxed) == Self.turnHasEnded
    onStack.store(0, ordering: .relaxed)
    return hasTurnEnded
  }

  /// The number of the puller that is on the stack; 0 if none is.
  var current: UInt64 { onStack.load(ordering: .relaxed) }
}
