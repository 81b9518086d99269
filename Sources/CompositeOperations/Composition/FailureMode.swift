/// What a parallel composite does when a child ends without a result.
///
/// Where no mode is given, a composite cancels the remaining children. One that collects the outcomes of
/// its children runs all of them, because a collection of outcomes in which the first failure has
/// cancelled the others says little about the others.
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
