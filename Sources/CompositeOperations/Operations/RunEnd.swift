/// The end of a child's run while its parent has the value in custody.
@usableFromInline struct RunEnd<Success: Sendable>: Sendable {
  @usableFromInline let outcome: Outcome<Success>
  /// What is to be done with a result that nobody will see.
  @usableFromInline let disposal: Disposal?
  /// Why the run stopped early, if it did and its body said so.
  @usableFromInline let reason: (any Error)?

  @inlinable init(
    _ outcome: Outcome<Success>, disposal: Disposal? = nil, reason: (any Error)? = nil
  ) {
    self.outcome = outcome
    self.disposal = disposal
    self.reason = reason
  }

  /// - Parameter ending: The end of a run.
  init(_ ending: TypedEnding<Success>) {
    let reason = ending.wasCancelled ? nil : ending.late?.error?.reasonToStop
    self.init(ending.outcome, disposal: ending.disposal, reason: reason)
  }

  /// The end of a run that threw (O3, O4). What the error carries is given up if nobody will see it.
  @usableFromInline init(throwing error: any Error, wasCancelled: Bool) {
    let ending = Ending.error(error, wasCancelled: wasCancelled)
    ending.discardLate()
    let reason = ending.isCancelled && !wasCancelled ? error.reasonToStop : nil
    self.init(ending.error.map(Outcome.error) ?? .cancelled, reason: reason)
  }

  /// Gives up what nobody will see.
  func giveUp() {
    disposal?()
    outcome.error?.discardCarriedValues()
  }

  /// The value, for a body that ends as this run did.
  ///
  /// - Throws: The error of the run, or what says why it stopped early.
  @inlinable func get() throws -> Success {
    switch outcome {
    case .result(let value): return value
    case .error(let error): throw error
    case .cancelled: throw reason ?? CancellationError()
    }
  }
}
