/// The error of an operation that its pool did not run.
public struct PoolRefusalError: Error, Hashable, Sendable {
  /// Why a pool did not run an operation.
  public enum Reason: Hashable, Sendable {
    /// As many operations waited as may, so it was not taken.
    case full
    /// It waited, and others that came later took its place.
    case dropped
    /// The pool was closed.
    case closed
  }

  /// The name of the operation.
  public let name: String
  /// Why the pool did not run it.
  public let reason: Reason
}

extension PoolRefusalError: CustomStringConvertible {
  public var description: String {
    switch reason {
    case .full: "pool full: '\(name)' was refused because the queue has reached its capacity"
    case .dropped: "pool full: '\(name)' was dropped from the queue for a newer operation"
    case .closed: "pool closed: '\(name)' was not run"
    }
  }
}
