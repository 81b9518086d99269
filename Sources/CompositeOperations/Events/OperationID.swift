internal import Synchronization

/// The identity of one run, unique within the process.
///
/// An operation is a value that can run many times. Each run has its own identity, and later runs
/// have greater ones.
public struct OperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: UInt64

  private static let last = Atomic<UInt64>(0)

  package init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }

  public static func < (left: OperationID, right: OperationID) -> Bool {
    left.number < right.number
  }

  /// The number of the run: `#42`.
  public var description: String { "#\(number)" }
}
