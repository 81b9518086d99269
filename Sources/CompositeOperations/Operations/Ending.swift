/// How a run ended, and what its body came to that the outcome does not show.
///
/// A struct on purpose: tuples that async closures return are miscompiled by Swift 6.3.1 at `-O`.
struct Ending<Success: Sendable>: Sendable {
  let outcome: Outcome<Success>

  /// What the body came to although the outcome is ``Outcome/cancelled``: a value or an error that
  /// came too late, or the evidence of a composite. Nil if there is nothing to show.
  let late: Outcome<Success>?

  /// Whether somebody asked the run to stop before it had ended.
  let wasCancelled: Bool

  /// What is to be done with the value, of the outcome or late, if nobody will see it.
  let disposal: Disposal?

  /// O2: cancelled before it began.
  static var neverBegan: Ending {
    Ending(outcome: .cancelled, late: nil, wasCancelled: true, disposal: nil)
  }

  /// O3 and O4: a cancellation wins over whatever the body came to.
  init(of body: Outcome<Success>, disposal: Disposal? = nil, wasCancelled: Bool) {
    let isCancelled = wasCancelled || body.isCancelled || body.error?.meansCancellation == true
    let isBare = body.isCancelled || body.error is CancellationError
    self.init(
      outcome: isCancelled ? .cancelled : body, late: isCancelled && !isBare ? body : nil,
      wasCancelled: wasCancelled, disposal: disposal)
  }

  private init(
    outcome: Outcome<Success>, late: Outcome<Success>?, wasCancelled: Bool, disposal: Disposal?
  ) {
    self.outcome = outcome
    self.late = late
    self.wasCancelled = wasCancelled
    self.disposal = disposal
  }

  /// Gives up what came too late, or the values that it carries.
  func discardLate() {
    switch late {
    case .result: disposal?()
    case .error(let error): (error as? any ValueCarrying)?.discardValues()
    case .cancelled, nil: break
    }
  }
}
