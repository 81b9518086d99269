/// How a run ended, with its value.
///
/// A struct, because Swift 6.3.1 miscompiles tuples that async closures return at `-O`.
struct TypedEnding<Success: Sendable>: Sendable {
  let outcome: Outcome<Success>

  /// The late value, if there is one.
  private let lateValue: Success?
  /// The error that the body of a cancelled run threw.
  private let thrown: (any Error)?
  /// Discards the value, or the late one.
  private let valueDisposal: Disposal?

  /// - Parameter slot: The memory of the value, which is moved out.
  init(_ ending: Ending, valueIn slot: ResultSlot) {
    outcome = ending.outcome { slot.move(as: Success.self) }
    lateValue = ending.hasLateValue ? slot.move(as: Success.self) : nil
    thrown = ending.thrown
    valueDisposal = ending.disposal ?? ending.lateDisposal
  }

  /// Discards the value of the outcome.
  var disposal: Disposal? { outcome.isCancelled ? nil : valueDisposal }

  /// The late outcome: how the body ended although the outcome is ``Outcome/cancelled``.
  var late: Outcome<Success>? { lateValue.map(Outcome.result) ?? thrown?.late(as: Success.self) }

  /// The error that a modifier throws to pass on a cancelled end; nil for a plain cancellation.
  var reason: (any Error)? {
    if let lateValue { return LateOutcomeError(lateValue, disposal: valueDisposal) }
    return thrown?.reasonToStop
  }

  /// Discards the late outcome. Call it once, unless the end is passed on.
  func discardLate() {
    if lateValue != nil { valueDisposal?() } else { thrown?.discardCarriedValues() }
  }
}
