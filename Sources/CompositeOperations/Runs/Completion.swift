/// How a run and its body ended. The outcome alone does not show a late value or error.
///
/// Its owner passes it on, with ``held()``, or discards it, with ``discard()``. The completion of a
/// run of any type, whose value is in a ``ResultSlot``, is a `Completion<Void>`.
@usableFromInline struct Completion<Value: Sendable>: Sendable {
  @usableFromInline enum Body: Sendable {
    case neverBegan
    /// The value, in time or late, and the closure that discards it.
    case value(Value, Cleanup?)
    case error(any Error)
  }

  @usableFromInline let body: Body

  /// Whether the run was cancelled from outside before it had ended.
  @usableFromInline let wasCancelled: Bool

  /// Whether the run ends as cancelled.
  @usableFromInline let isCancelled: Bool

  @inlinable init(body: Body, wasCancelled: Bool, isCancelled: Bool) {
    self.body = body
    self.wasCancelled = wasCancelled
    self.isCancelled = isCancelled
  }

  /// O2: cancelled before it began.
  @inlinable static var neverBegan: Completion {
    Completion(body: .neverBegan, wasCancelled: true, isCancelled: true)
  }

  /// O3: a cancellation takes precedence over the value of the body.
  @inlinable static func value(
    _ value: Value, cleanup: Cleanup?, wasCancelled: Bool
  ) -> Completion {
    Completion(
      body: .value(value, cleanup), wasCancelled: wasCancelled, isCancelled: wasCancelled)
  }

  /// O3 and O4: a cancellation takes precedence over an error, and some errors represent one.
  @usableFromInline static func error(_ error: any Error, wasCancelled: Bool) -> Completion {
    Completion(
      body: .error(error), wasCancelled: wasCancelled,
      isCancelled: wasCancelled || error.meansCancellation)
  }

  /// Returns the completion with another value, in time or late.
  func map<New: Sendable>(_ transform: (Value) -> New) -> Completion<New> {
    let body: Completion<New>.Body =
      switch body {
      case .neverBegan: .neverBegan
      case .value(let value, let cleanup): .value(transform(value), cleanup)
      case .error(let error): .error(error)
      }
    return Completion<New>(body: body, wasCancelled: wasCancelled, isCancelled: isCancelled)
  }

  // MARK: The outcome

  @inlinable var outcome: Outcome<Value> {
    if isCancelled { return .cancelled }
    switch body {
    case .value(let value, _): return .result(value)
    case .error(let error): return .error(error)
    case .neverBegan: return .cancelled
    }
  }

  /// Whether the run ends in a result.
  var isResult: Bool {
    if case .value = body { return !isCancelled }
    return false
  }

  /// The error that the run ends in.
  @inlinable var error: (any Error)? {
    if case .error(let error) = body, !isCancelled { return error }
    return nil
  }

  /// Discards the value of the outcome; nil if there is none or it needs no cleanup.
  @inlinable var cleanup: Cleanup? {
    if case .value(_, let cleanup) = body, !isCancelled { return cleanup }
    return nil
  }

  // MARK: The late outcome

  /// Whether the body returned a value after the cancellation.
  var hasLateValue: Bool {
    if case .value = body { return isCancelled }
    return false
  }

  /// The value or the error with which the body ended after the cancellation. It may be the late
  /// outcome of a child, which a modifier passed on, or the error of a composite. Nil if there is
  /// none.
  var lateOutcome: Outcome<Value>? {
    guard isCancelled else { return nil }
    switch body {
    case .value(let value, _): return .result(value)
    case .error(let error): return error.late(as: Value.self)
    case .neverBegan: return nil
    }
  }

  /// Discards the late outcome. Call it once, unless the completion is passed on.
  @usableFromInline func discardLateOutcome() {
    guard isCancelled else { return }
    switch body {
    case .value(_, let cleanup): cleanup?()
    case .error(let error): error.discardCarriedValues()
    case .neverBegan: break
    }
  }

  /// The outcome; discards a late one.
  @inlinable var outcomeDiscardingLate: Outcome<Value> {
    if isCancelled { discardLateOutcome() }
    return outcome
  }

  /// Discards the value or the values that the error carries, in time or late.
  func discard() {
    cleanup?()
    error?.discardCarriedValues()
    discardLateOutcome()
  }

  /// The value, in time or late, also one that a modifier has passed on. Nil if there is none, or if
  /// other callers share it.
  @usableFromInline var anyValue: Value? {
    switch body {
    case .value(let value, _): value
    case .error(let error): (error as? LateOutcomeError)?.unsharedValue(as: Value.self)
    case .neverBegan: nil
    }
  }

  // MARK: Passing it on

  /// Returns the value to a body that ends as this run did, and that then owns the late outcome.
  ///
  /// - Throws: The error of the run. If it was cancelled, an error with the late outcome or the
  ///   reason of a skip, or `CancellationError`.
  @inlinable func held() throws -> HeldResult<Value> {
    if case .value(let value, let cleanup) = body, !isCancelled {
      return HeldResult(value, cleanup: cleanup)
    }
    throw errorToPassOn
  }

  /// Returns the value to a closure that consumes it. Discards a late value.
  ///
  /// - Throws: As ``held()``, but without a late value.
  @inlinable func valueForClosure() throws -> Value {
    if case .value(let value, _) = body, !isCancelled { return value }
    throw errorToPassOn.withoutLateValue
  }

  /// The error that a body throws to end as this run did, unless it ended in a result.
  @usableFromInline var errorToPassOn: any Error {
    switch body {
    case .error(let error): isCancelled ? error.asCancellation : error
    case .value(let value, let cleanup): LateOutcomeError(value, cleanup: cleanup)
    case .neverBegan: CancellationError()
    }
  }
}

extension Completion<Void> {
  /// The outcome with the value that is in a slot.
  func outcome<Success>(_ value: () -> Success) -> Outcome<Success> {
    if isCancelled { return .cancelled }
    switch body {
    case .value: return .result(value())
    case .error(let error): return .error(error)
    case .neverBegan: return .cancelled
    }
  }

  /// The late outcome with the value that is in a slot.
  func lateOutcome<Success>(_ value: () -> Success) -> Outcome<Success>? {
    guard isCancelled else { return nil }
    switch body {
    case .value: return .result(value())
    case .error(let error): return error.late(as: Success.self)
    case .neverBegan: return nil
    }
  }
}
