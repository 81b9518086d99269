/// How the run of a child ended. The parent owns the value or the late outcome.
///
/// The parent either passes the end on, with ``get()`` and ``disposal``, or discards it, with
/// ``giveUp()``.
@usableFromInline struct RunEnd<Success: Sendable>: Sendable {
  @usableFromInline let outcome: Outcome<Success>
  /// Discards the result; nil if it needs no cleanup.
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

  /// - Parameter ending: The end of a run, whose late outcome the new value owns.
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

  /// Returns the value to a body that ends as this run did, and that then owns the late outcome.
  ///
  /// - Throws: The error of the run; ``reason`` or `CancellationError` if it was cancelled.
  @inlinable func get() throws -> Success {
    switch outcome {
    case .result(let value): return value
    case .error(let error): throw error
    case .cancelled: throw reason ?? CancellationError()
    }
  }

  /// Returns the value to a closure that consumes it. Discards a late value and throws a late
  /// error.
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
