/// An error of a condition that needs one of its operands to be met, while all of them failed.
///
/// ``Condition/any(_:)-(Condition...)`` fails with it. Its description has one line for each
/// operand.
public struct NoConditionMetError: Error, Sendable {
  /// The errors of all operands, in order; empty if there were none.
  public var errors: [any Error] { storedErrors.value }
  private let storedErrors: StackSafe<[any Error]>

  var shares: [Shares] = []

  init(errors: [any Error]) { storedErrors = StackSafe(errors) }
}

extension NoConditionMetError: ValueCarrying {
  func discardOwnValues() {}
  var carriedErrors: [any Error] { errors }
}

extension NoConditionMetError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    errors.map { ErrorBranch(label: "no condition was met", cause: .error($0)) }
  }

  package var nothing: String { "no condition was met: there are no conditions" }
}
