/// The error where one of several conditions was to be met and all of them failed.
///
/// Its description is a line a condition.
public struct NoConditionMetError: Error, Sendable {
  /// The error of every condition, in order; none where there were no conditions.
  public var errors: [any Error] { storedErrors.value }
  private let storedErrors: StackSafe<[any Error]>

  var shares: [Shares] = []

  init(errors: [any Error]) { storedErrors = StackSafe(errors) }
}

extension NoConditionMetError: ValueCarrying {
  func discardOwnValues() {}
  var carriedErrors: [any Error] { errors }
}

extension NoConditionMetError: EvidenceDescribing {
  var branches: [ErrorBranch] {
    errors.map { ErrorBranch(label: "no condition was met", cause: .error($0)) }
  }

  var nothing: String { "no condition was met: there are no conditions" }
}
