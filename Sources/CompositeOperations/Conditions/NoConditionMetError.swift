/// The error where one of several conditions was to be met and all of them failed.
///
/// Its description is a line a condition.
public struct NoConditionMetError: Error, Sendable {
  /// The error of every condition, in order; none where there were no conditions.
  public let errors: [any Error]

  var disposalOfShare: Disposal?
}

extension NoConditionMetError: ValueCarrying {
  func discardValues() {
    for error in errors { error.discardCarriedValues() }
  }
}

extension NoConditionMetError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    errors.map { ErrorBranch(label: "no condition was met", cause: .error($0)) }
  }

  var nothing: String { "no condition was met, because none was given" }
}
