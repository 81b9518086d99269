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
