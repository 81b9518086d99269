/// An error that ends a run as cancelled and carries the late outcome of its child.
///
/// A modifier that ends as its child does throws this error, so the late outcome reaches the handle
/// of the outermost run, where its value is discarded once. The error never reaches user code.
package struct LateOutcomeError: CancellationRepresenting {
  private enum Late: Sendable {
    case value(any Sendable, Cleanup?)
    case error(any Error)
  }

  private let late: Late
  var shares: [Shares] = []

  /// - Parameters:
  ///   - value: A value that was returned after the cancellation.
  ///   - cleanup: Discards the value.
  @usableFromInline init(_ value: some Sendable, cleanup: Cleanup?) {
    late = .value(value, cleanup)
  }

  /// - Parameter error: An error that was thrown after the cancellation and does not represent one
  ///   itself.
  init(_ error: any Error) { late = .error(error) }

  package var representsCancellation: Bool { true }

  /// The late outcome: a result or an error.
  package var outcome: Outcome<any Sendable> {
    switch late {
    case .value(let value, _): .result(value)
    case .error(let error): .error(error)
    }
  }
}

extension LateOutcomeError {
  /// The late value, unless several callers share it.
  func unsharedValue<Value>(as type: Value.Type) -> Value? {
    guard shares.isEmpty, case .value(let value, _) = late else { return nil }
    return value as? Value
  }
}

extension LateOutcomeError: ValueCarrying {
  func discardOwnValues() {
    if case .value(_, let cleanup?) = late { NestedCalls.make(.discard, cleanup) }
  }

  var carriedErrors: [any Error] {
    switch late {
    case .value: []
    case .error(let error): [error]
    }
  }
}

extension HeldResult {
  /// The error by which a body passes on this result, if the task that returned it was cancelled.
  @usableFromInline var asCancellation: any Error { LateOutcomeError(value, cleanup: cleanup) }
}

extension Result where Failure == any Error {
  /// The error by which a run passes on how its body ended in a task that was cancelled.
  func asCancellation<Value>() -> any Error where Success == HeldResult<Value> {
    switch self {
    case .success(let held): held.asCancellation
    case .failure(let error): error.asCancellation
    }
  }
}

extension Error {
  /// The late outcome of a cancelled run whose body threw this error.
  func late<Value>(as type: Value.Type) -> Outcome<Value>? {
    if self is CancellationError { return nil }
    guard let late = self as? LateOutcomeError else { return .error(self) }
    switch late.outcome {
    case .result(let value): return (value as? Value).map(Outcome.result)
    case .error(let error): return .error(error)
    case .cancelled: return nil
    }
  }

  /// The error that a modifier throws if its child was cancelled and threw this error: one that
  /// represents a cancellation.
  @usableFromInline var asCancellation: any Error {
    meansCancellation ? self : LateOutcomeError(self)
  }

  /// This error without a late value, which is discarded. For `map` and `then`, whose closure would
  /// have received the value.
  @usableFromInline var withoutLateValue: any Error {
    guard let late = self as? LateOutcomeError, case .result = late.outcome else { return self }
    late.discardCarriedValues()
    return CancellationError()
  }

  /// This error without a late outcome, which is discarded. For callers outside the engine.
  @usableFromInline package var withoutLateOutcome: any Error {
    guard let late = self as? LateOutcomeError else { return self }
    late.discardCarriedValues()
    return CancellationError()
  }

  /// This error with another way to discard a late value.
  @usableFromInline func discarding<Value: Sendable>(
    by discard: @escaping @Sendable (Value) -> Void
  ) -> any Error {
    guard let late = self as? LateOutcomeError, case .result(let value as Value) = late.outcome
    else {
      return self
    }
    return LateOutcomeError(value, cleanup: { discard(value) })
  }
}
