/// How many finished steps a sequential composite keeps, errors included.
public struct StepHistory: Sendable, Equatable {
  /// The most steps that are kept; `Int.max` for all of them.
  let limit: Int

  /// Every step.
  public static let all = StepHistory(limit: .max)

  /// No step: for sequences without end. The sequence still sees each step as it ends.
  public static let none = StepHistory(limit: 0)

  /// The last `count` steps.
  ///
  /// - Precondition: `count` is not negative.
  public static func last(_ count: Int) -> StepHistory {
    precondition(count >= 0, "`count` must not be negative (was \(count))")
    return StepHistory(limit: count)
  }
}
