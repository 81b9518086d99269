extension OperationPool {
  /// The order in which waiting operations of the same priority begin.
  public enum Order: Sendable {
    /// First in, first out.
    case fifo
    /// Last in, first out.
    case lifo
  }

  /// The reaction to an operation that is submitted when the queue has reached its capacity.
  public enum Overflow: Sendable {
    /// ``OperationPool/submit(_:priority:isBarrier:)`` suspends until there is room (back
    /// pressure). ``OperationPool/submitNow(_:priority:isBarrier:)`` does not wait: the operation
    /// is refused.
    case wait
    /// The operation is refused.
    case refuse
    /// The oldest operation in the queue is refused, and the submitted operation is added to the
    /// queue.
    case dropOldest
    /// The newest operation in the queue is refused, and the submitted operation is added to the
    /// queue.
    case dropNewest
  }

  /// The treatment of waiting operations when a pool is closed.
  public enum Closing: Sendable {
    /// Waiting operations run. Operations that have begun continue.
    case runningWhatWaits
    /// Waiting operations are refused. Operations that have begun continue.
    case rejectingPending
  }

  /// The importance of a waiting operation: operations with a higher priority begin first.
  ///
  /// This priority does not change how fast an operation runs. To set the priority of its task, use
  /// ``ComposableOperation/prioritized(at:)``.
  ///
  /// ```swift
  /// let urgent = OperationPool.Priority(rawValue: 10)
  /// let run = OperationPool(width: .limited(to: 4)).submitNow(fetch, priority: urgent)
  /// ```
  public struct Priority: Sendable, Hashable, Comparable, RawRepresentable {
    /// A greater value means a higher priority.
    public let rawValue: Int

    /// Creates a priority. ``normal`` has the value 0.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Below normal, with the value -1.
    public static let low = Priority(rawValue: -1)
    /// The default, with the value 0.
    public static let normal = Priority(rawValue: 0)
    /// Above normal, with the value 1.
    public static let high = Priority(rawValue: 1)

    /// Whether a priority is lower than another one.
    public static func < (one: Priority, other: Priority) -> Bool { one.rawValue < other.rawValue }
  }
}
