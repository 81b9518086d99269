internal import CompositeOperations

extension RunJournal {
  /// Waits until a time of the wall clock. Parks the run instead if it waits for nothing else and
  /// the wait is long.
  ///
  /// - Throws: An error that ends the step if the run is parked; `CancellationError`.
  func wait(until wake: Int64, in context: OperationContext) async throws {
    guard wake > session.now else { return try Task.checkCancellation() }
    if canPark, isLong(until: wake) { throw step.park(until: wake, event: nil) }
    try await withoutSlot {
      while true {
        let left = wake - session.now
        if left <= 0 { return }
        try await context.pause(.milliseconds(left))
      }
    }
  }

  private func isLong(until wake: Int64?) -> Bool {
    guard let wake else { return true }
    return Duration.milliseconds(wake - session.now) >= session.options.parkingThreshold
  }

  /// Waits until a condition of the run gives a value, or until a time. Parks the run instead if it
  /// waits for nothing else and the wait may be long.
  ///
  /// - Parameters:
  ///   - event: The event that makes the parked run ready.
  ///   - topics: The changes that may fulfil the condition.
  ///   - wake: The time; nil for any time.
  /// - Returns: Nil if the time is over.
  /// - Throws: An error that ends the step if the run is parked; the error of the condition;
  ///   `CancellationError`.
  func wait<Value: Sendable>(
    for event: String, changing topics: [RunChanges.Topic], until wake: Int64?,
    in context: OperationContext,
    _ check: () async throws -> Value?
  ) async throws -> Value? {
    if let value = try await step.request(check) { return value }
    if let wake, wake <= session.now { return nil }
    if canPark, isLong(until: wake) { throw step.park(until: wake, event: event) }
    return try await withoutSlot {
      try await session.backend.changes.wait(for: topics, in: context) {
        () -> WaitDecision<Value?> in
        if let value = try await step.request(check) { return .end(value) }
        guard let wake else { return .wait(nil) }
        let left = wake - session.now
        return left > 0 ? .wait(.milliseconds(left)) : .end(nil)
      }
    }
  }

  /// Performs a wait without the place of the run in its worker.
  private func withoutSlot<Value>(_ body: () async throws -> Value) async throws -> Value {
    guard let slot = session.place?.slot else { return try await body() }
    return try await slot.waiting(body)
  }
}

extension ComposableOperation {
  /// Whether the operation only waits, so that its run can be parked meanwhile: a durable wait, also
  /// with a name, observers or a weight.
  var isDurableWait: Bool {
    if self is any DurableWait { return true }
    return hasSameOutcomeAsModified && modifiedOperation?.isDurableWait == true
  }

  /// Whether the operation is another one with a name, observers or a weight, which add no work.
  var hasSameOutcomeAsModified: Bool {
    self is any NameBearing || self is any ObserverBearing || self is any WeightBearing
  }
}

/// An operation for which a run can be parked.
protocol DurableWait: ComposableOperation {}

extension DurableSleep: DurableWait {}
extension AwaitedEvent: DurableWait {}
// It waits between its attempts.
extension DurablyRetryingOperation: DurableWait {}
