/// The end of a child's run while its parent has the value in custody.
@usableFromInline struct RunEnd<Success: Sendable>: Sendable {
  @usableFromInline let outcome: Outcome<Success>
  /// What is to be done with a result that nobody will see.
  @usableFromInline let disposal: Disposal?

  @inlinable init(_ outcome: Outcome<Success>, disposal: Disposal? = nil) {
    self.outcome = outcome
    self.disposal = disposal
  }

  /// The end of a run that threw (O3, O4). What the error carries is given up if nobody will see it.
  @usableFromInline init(throwing error: any Error, wasCancelled: Bool) {
    let ending = Ending.error(error, wasCancelled: wasCancelled)
    ending.discardLate()
    self.init(ending.error.map(Outcome.error) ?? .cancelled)
  }
}
