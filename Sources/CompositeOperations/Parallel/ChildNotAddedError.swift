/// The error that ``OperationContext/add(_:)`` throws if a child cannot be added.
public struct ChildNotAddedError: Error, Hashable, Sendable {
  /// Why a child could not be added.
  public enum Reason: Hashable, Sendable {
    /// No enclosing composite takes children while it runs.
    case noGrowingComposite
    /// The composite has ended: all its children had ended before this one was added.
    case hasEnded
    /// The children of the composite have another result type. The types are given by name.
    case givesOther(expected: String, given: String)
  }

  /// The name of the child.
  public let name: String
  /// Why it could not be added.
  public let reason: Reason
}

extension ChildNotAddedError: CustomStringConvertible {
  public var description: String {
    let why =
      switch reason {
      case .noGrowingComposite:
        "no enclosing composite grows; create one with ParallelOperation(growing:)"
      case .hasEnded:
        "the composite has ended; add children from the body of a child, before it returns"
      case .givesOther(let expected, let given):
        "the children of the composite return \(expected), but it returns \(given); map its result"
      }
    return "\(name) was not added: \(why)"
  }
}
