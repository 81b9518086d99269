/// How many children of a parallel composite may be in flight at once.
///
/// A width counts the composite's own children. A composite inside it has a width of its own, so
/// nesting cannot run out of places.
public struct OperationWidth: Sendable, Equatable {
  /// The most children in flight; `Int.max` for any number.
  @usableFromInline let limit: Int

  /// As many children running as the machine has processors, and any number of them waiting.
  public static let adaptive = OperationWidth(limit: .max)

  /// One child after another, in order.
  public static let serial = OperationWidth(limit: 1)

  /// At most `limit` children that have begun and not ended. They begin in order.
  ///
  /// - Precondition: `limit` is at least 1. A number that comes from outside is the caller's to
  ///   check: `.limited(to: max(1, requested))`.
  public static func limited(to limit: Int) -> OperationWidth {
    precondition(limit >= 1, "`limit` must be at least 1 (was \(limit))")
    return OperationWidth(limit: limit)
  }
}
