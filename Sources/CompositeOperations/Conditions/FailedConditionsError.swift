/// The error where several conditions had to be met and some of them failed.
///
/// ``Condition/all(_:onFailure:)-(Condition...)`` fails with it if its failure mode is
/// ``FailureMode/runAll``. Its description has a line for each condition that failed.
public struct FailedConditionsError: Error, Sendable {
  /// The names of the conditions that failed, in order.
  public let names: [String]
  /// The errors of the conditions that failed, in order; at least one.
  public let errors: [any Error]

  var disposalOfShare: Disposal?

  init(failures: [(name: String, error: any Error)]) {
    names = failures.map(\.name)
    errors = failures.map(\.error)
  }
}

extension FailedConditionsError: ValueCarrying {
  func discardValues() {
    for error in errors { error.discardCarriedValues() }
  }
}

extension FailedConditionsError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    zip(names, errors).map { name, error in ErrorBranch(label: name, cause: .error(error)) }
  }
}
