/// The error of an operation that its pool did not run.
public struct PoolRefusalError: Error, Hashable, Sendable {
  /// The reason why a pool did not run an operation.
  public enum Reason: Hashable, Sendable {
    /// The queue had reached its capacity when the operation was submitted.
    case full
    /// The operation waited, and was dropped for a newer one.
    case dropped
    /// The pool was closed.
    case closed
  }

  /// The name of the operation.
  public let name: String
  /// The reason why the pool did not run it.
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
