/// The number of finished steps that a sequential composite keeps, including failed ones.
///
/// ```swift
/// let polls = ClosureSequence(history: .last(10)) { _ in Poll() }
/// ```
public struct StepHistory: Sendable, Equatable {
  /// The maximum number of steps; `Int.max` for all of them.
  package let limit: Int

  /// A history of all steps.
  public static let all = StepHistory(limit: .max)

  /// A history without steps, for sequences without end. The sequence still receives each step as
  /// it ends.
  public static let none = StepHistory(limit: 0)

  /// Returns a history of the last `count` steps.
  ///
  /// - Parameter count: The number of steps.
  /// - Precondition: `count` is not negative.
  public static func last(_ count: Int) -> StepHistory {
    precondition(count >= 0, "`count` must not be negative (was \(count))")
    return StepHistory(limit: count)
  }
}
