/// An error that combines the failures of several required conditions.
///
/// ``Condition/all(_:onFailure:)-(Condition...,_)`` fails with it if its failure mode is
/// ``FailureMode/runAll``. Its description has one line for each condition that failed.
public struct FailedConditionsError: Error, Sendable {
  /// The names of the conditions that failed, in order.
  public let names: [String]
  /// The errors of the conditions that failed, in order; at least one.
  public var errors: [any Error] { storedErrors.value }
  private let storedErrors: StackSafe<[any Error]>

  var shares: [Shares] = []

  init(failures: [(name: String, error: any Error)]) {
    names = failures.map(\.name)
    storedErrors = StackSafe(failures.map(\.error))
  }
}

extension FailedConditionsError: ValueCarrying {
  func discardOwnValues() {}
  var carriedErrors: [any Error] { errors }
}

extension FailedConditionsError: ErrorTreeDescribing {
  package var branches: [ErrorBranch] {
    zip(names, errors).map { name, error in ErrorBranch(label: name, cause: .error(error)) }
  }
}

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
