/// How a run and its body ended; the outcome alone does not show a late value or error.
///
/// The value, in time or late, is in the slot that was passed to the body, so this type is the same
/// for runs of every result type.
@usableFromInline struct Ending: Sendable {
  private enum Body: Sendable {
    case neverBegan
    case value
    case error(any Error)
  }

  private let body: Body

  /// Whether the run was cancelled from outside before it had ended.
  let wasCancelled: Bool

  /// Whether the run ends as cancelled.
  let isCancelled: Bool

  /// Discards the value, in time or late; nil if it needs no cleanup.
  private let valueDisposal: Disposal?

  /// O2: cancelled before it began.
  static var neverBegan: Ending {
    Ending(body: .neverBegan, wasCancelled: true, isCancelled: true, valueDisposal: nil)
  }

  /// O3: a cancellation takes precedence over the value of the body.
  static func value(disposal: Disposal?, wasCancelled: Bool) -> Ending {
    Ending(
      body: .value, wasCancelled: wasCancelled, isCancelled: wasCancelled, valueDisposal: disposal)
  }

  /// O3 and O4: a cancellation takes precedence over an error, and some errors represent one.
  static func error(_ error: any Error, wasCancelled: Bool) -> Ending {
    Ending(
      body: .error(error), wasCancelled: wasCancelled,
      isCancelled: wasCancelled || error.meansCancellation, valueDisposal: nil)
  }

  // MARK: The outcome

  /// Whether the run ends in a result.
  var isResult: Bool {
    if case .value = body { return !isCancelled }
    return false
  }

  /// The error that the run ends in.
  var error: (any Error)? {
    if case .error(let error) = body, !isCancelled { return error }
    return nil
  }

  /// Whether the slot holds a late value.
  var hasLateValue: Bool {
    if case .value = body { return isCancelled }
    return false
  }

  /// Discards the value of the outcome.
  var disposal: Disposal? { isCancelled ? nil : valueDisposal }

  /// Discards a late value in the slot.
  var lateDisposal: Disposal? { isCancelled ? valueDisposal : nil }

  /// The error that the body of a cancelled run threw.
  var thrown: (any Error)? {
    if case .error(let error) = body, isCancelled { return error }
    return nil
  }

  /// - Parameter value: Returns the value in the slot.
  func outcome<Value>(_ value: () -> Value) -> Outcome<Value> {
    if isCancelled { return .cancelled }
    switch body {
    case .value: return .result(value())
    case .error(let error): return .error(error)
    case .neverBegan: return .cancelled
    }
  }

  // MARK: The late outcome

  /// The late outcome: the value or the error with which the body ended after the cancellation. It
  /// may be the late outcome of a child, which a modifier passed on, or the evidence of a
  /// composite. Nil if there is none.
  ///
  /// - Parameter value: Returns the value in the slot.
  func late<Value>(_ value: () -> Value) -> Outcome<Value>? {
    guard isCancelled else { return nil }
    switch body {
    case .value: return .result(value())
    case .error(let error): return error.late(as: Value.self)
    case .neverBegan: return nil
    }
  }

  /// Discards the late outcome. Call it once, unless the end is passed on.
  func discardLate() {
    guard isCancelled else { return }
    switch body {
    case .value: valueDisposal?()
    case .error(let error): error.discardCarriedValues()
    case .neverBegan: break
    }
  }
}
