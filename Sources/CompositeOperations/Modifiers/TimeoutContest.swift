/// Which comes first, the end of a body or the end of its time.
///
/// The value lies in the slot that the body was given, so this is the same for bodies of every type.
@usableFromInline final class TimeoutContest: Sendable {
  /// Ends the other side.
  @usableFromInline struct Over: Error {
    @usableFromInline init() {}
  }

  /// How the run ends.
  @usableFromInline enum End: Sendable {
    /// In the value in the slot.
    case value(Disposal?)
    /// In an error of the body.
    case error(any Error)
    /// In a timeout; a value lies in the slot, which has been given up.
    case valueTooLate
    /// In a timeout.
    case tooLate
  }

  private struct State: Sendable {
    var hasExpired = false
    var body: Body?
  }

  private enum Body: Sendable {
    case value(Disposal?)
    case error(any Error)
  }

  private let state = Lock(State())

  @usableFromInline init() {}

  @usableFromInline var isDecided: Bool { state.withLock { $0.hasExpired || $0.body != nil } }

  @usableFromInline func bodyEnded(_ disposal: Disposal?) {
    state.withLock { $0.body = .value(disposal) }
  }

  @usableFromInline func bodyFailed(_ error: any Error) {
    state.withLock { $0.body = .error(error) }
  }

  /// Waits until the time is over.
  ///
  /// - Throws: ``Over`` if the body is too late.
  @usableFromInline nonisolated(nonsending) func wait(
    _ limit: Duration, in context: OperationContext
  ) async throws {
    // Cancelled, because the body is over or the run is cancelled.
    guard (try? await context.wait(limit)) != nil else { return }
    let isTooLate = state.withLock { state in
      if state.body == nil { state.hasExpired = true }
      return state.hasExpired
    }
    if isTooLate { throw Over() }
  }

  /// The end of the run, when both sides are over. Where it was cancelled it does not count (O3). What
  /// came too late is given up; to be asked once.
  @usableFromInline var end: End {
    let state = state.withLock { $0 }
    switch state.body {
    case .value(let disposal):
      if !state.hasExpired { return .value(disposal) }
      disposal?()
      return .valueTooLate
    case .error(let error):
      if !state.hasExpired { return .error(error) }
      error.discardCarriedValues()
      return .tooLate
    case nil:
      // Without an end the body was cancelled before it could begin.
      return state.hasExpired ? .tooLate : .error(CancellationError())
    }
  }
}
