/// What a parallel composite does when a child ends without a result.
public enum FailureMode: Sendable {
  /// The first child that fails or cancels itself cancels the others; no further child begins.
  case cancelRemaining
  /// Every child runs, whatever the others come to.
  case runAll

  @usableFromInline var goal: ParallelBoard.Goal {
    switch self {
    case .cancelRemaining: .everyResult
    case .runAll: .everyEnd
    }
  }
}
