extension OperationPool {
  /// Which of those that wait and have the same priority begins first.
  public enum Order: Sendable {
    /// The one that came first.
    case firstIn
    /// The one that came last.
    case lastIn
  }

  /// What happens when an operation is submitted and as many wait as may.
  public enum Overflow: Sendable {
    /// Whoever submits it waits for room; by ``OperationPool/submitNow(_:priority:isBarrier:)``, which does not
    /// wait, it is refused.
    case wait
    /// It is refused.
    case refuse
    /// The operation that has waited for the longest time is refused instead of it.
    case dropOldest
    /// The operation that came last is refused instead of it.
    case dropNewest
  }

  /// What becomes of the operations that wait when a pool is closed.
  public enum Closing: Sendable {
    /// They run, as those do that have begun.
    case runningWhatWaits
    /// They are refused. Those that have begun end.
    case refusingWhatWaits
  }

  /// How important an operation is among those that wait: the more important begins first.
  ///
  /// It says nothing about how quickly the operation runs; ``ComposableOperation/prioritized(at:)`` does.
  public struct Priority: Sendable, Hashable, Comparable, RawRepresentable {
    /// The greater, the more important.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let low = Priority(rawValue: -1)
    public static let normal = Priority(rawValue: 0)
    public static let high = Priority(rawValue: 1)

    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
  }
}
