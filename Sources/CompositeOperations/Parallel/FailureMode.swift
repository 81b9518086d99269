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

  @usableFromInline var goal: ScheduledRun.Goal {
    switch self {
    case .cancelRemaining: .everyResult
    case .runAll: .everyEnd
    }
  }
}

/// The maximum number of children of a parallel composite that are in flight at once.
///
/// ```swift
/// let pages = ParallelOperation(urls.map(FetchPage.init), width: .limited(to: 8))
/// ```
///
/// A width counts the composite's own children only. A nested composite has its own width, so
/// nesting cannot cause a deadlock.
public struct OperationWidth: Sendable, Equatable {
  /// The most children in flight; `Int.max` for any number.
  @usableFromInline package let limit: Int

  /// As many running children as the machine has processors, and any number of waiting ones.
  public static let adaptive = OperationWidth(limit: .max)

  /// One child at a time, in order.
  public static let serial = OperationWidth(limit: 1)

  /// Returns a width of at most `limit` children that have begun and not ended. They begin in
  /// order.
  ///
  /// - Parameter limit: The maximum number of children.
  /// - Precondition: `limit` is at least 1. Validate external input:
  ///   `.limited(to: max(1, requested))`.
  public static func limited(to limit: Int) -> OperationWidth {
    precondition(limit >= 1, "`limit` must be at least 1 (was \(limit))")
    return OperationWidth(limit: limit)
  }
}
