/// The reaction of a parallel composite to a child that ends without a result.
///
/// ```swift
/// let pages = ParallelOperation(urls.map(FetchPage.init), onFailure: .runAll)
/// ```
///
/// The default is ``cancelRemaining``. A composite that collects the outcomes of its children runs
/// all of them by default, because the outcomes of cancelled children say little about them.
public enum FailureMode: Sendable {
  /// The first child that fails or cancels itself cancels the others; no further child begins.
  case cancelRemaining
  /// Every child runs, however the others end.
  case runAll

  @usableFromInline var goal: ParallelRunState.Goal {
    switch self {
    case .cancelRemaining: .everyResult
    case .runAll: .everyEnd
    }
  }
}
