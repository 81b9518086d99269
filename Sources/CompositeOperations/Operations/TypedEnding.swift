/// How a run ended, with its value.
///
/// A struct on purpose: tuples that async closures return are miscompiled by Swift 6.3.1 at `-O`.
struct TypedEnding<Success: Sendable>: Sendable {
  let outcome: Outcome<Success>

  /// What the body came to although the outcome is ``Outcome/cancelled``.
  let late: Outcome<Success>?

  /// What is to be done with the value of the outcome if nobody will see it.
  let disposal: Disposal?

  /// Whether somebody asked the run to stop before it had ended.
  let wasCancelled: Bool

  /// - Parameter slot: Where the value lies, which is moved out.
  init(_ ending: Ending, valueIn slot: ResultSlot) {
    outcome = ending.outcome { slot.move(as: Success.self) }
    late = ending.late { slot.move(as: Success.self) }
    disposal = ending.disposal
    wasCancelled = ending.wasCancelled
  }
}
