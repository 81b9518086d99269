/// How a child's run ended. The parent owns its value or its late outcome.
///
/// The parent either passes the end on, by ``get()`` and ``disposal``, or discards it, by ``giveUp()``.
@usableFromInline struct RunEnd<Success: Sendable>: Sendable {
  @usableFromInline let outcome: Outcome<Success>
  /// What is to be done with a result that nobody will see.
  @usableFromInline let disposal: Disposal?
  /// The error that a run throws to pass on a cancelled end: the reason of a skip, evidence, or a
  /// ``LateOutcomeError``. Nil for a plain cancellation.
  @usableFromInline let reason: (any Error)?

  @inlinable init(
    _ outcome: Outcome<Success>, disposal: Disposal? = nil, reason: (any Error)? = nil
  ) {
    self.outcome = outcome
    self.disposal = disposal
    self.reason = reason
  }

  /// - Parameter ending: The end of a run. The new value owns its late outcome.
  init(_ ending: TypedEnding<Success>) {
    self.init(ending.outcome, disposal: ending.disposal, reason: ending.reason)
  }

  /// The end of a run that returned a value after its cancellation (O3).
  @usableFromInline init(lateValue value: Success, disposal: Disposal?) {
    self.init(.cancelled, reason: LateOutcomeError(value, disposal: disposal))
  }

  /// The end of a run that threw (O3, O4).
  @usableFromInline init(throwing error: any Error, wasCancelled: Bool) {
    if wasCancelled || error.meansCancellation {
      self.init(.cancelled, reason: error.reasonToStop)
    } else {
      self.init(.error(error))
    }
  }

  /// The outcome; discards a late one.
  @inlinable var outcomeDiscardingLate: Outcome<Success> {
    if reason != nil { giveUpReason() }
    return outcome
  }

  /// Discards the value and whatever else the end carries.
  func giveUp() {
    disposal?()
    outcome.error?.discardCarriedValues()
    giveUpReason()
  }

  @usableFromInline func giveUpReason() { reason?.discardCarriedValues() }

  /// The value, for a body that ends as this run did and then owns its late outcome.
  ///
  /// - Throws: The error of the run; ``reason`` or `CancellationError` if it was cancelled.
  @inlinable func get() throws -> Success {
    switch outcome {
    case .result(let value): return value
    case .error(let error): throw error
    case .cancelled: throw reason ?? CancellationError()
    }
  }

  /// The value, for a closure that consumes it. Discards a late value; a late error is thrown on.
  ///
  /// - Throws: As ``get()``.
  @inlinable func getForClosure() throws -> Success {
    if case .result(let value) = outcome { return value }
    throw errorForClosure
  }

  @usableFromInline var errorForClosure: any Error {
    outcome.error ?? reason?.withoutLateValue ?? CancellationError()
  }
}
