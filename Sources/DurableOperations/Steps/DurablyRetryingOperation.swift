public import CompositeOperations

extension ComposableOperation {
  /// Retries the operation while it fails, and counts the attempts in the journal of the durable
  /// run.
  ///
  /// ```swift
  /// import DurableOperations
  ///
  /// let charge = ChargeCard(order: order)
  ///   .durablyRetrying(attempts: 5, backoff: .exponential(from: .seconds(1)))
  /// ```
  ///
  /// An attempt counts when it begins, so an attempt that a crash interrupts counts too, with a
  /// ``DurableStepError``. An attempt that is cancelled with its worker does not count. The
  /// waits between attempts follow the wall clock, and a long wait parks the run as a
  /// ``DurableSleep`` does. With `retrying`, the count begins again after a crash.
  ///
  /// Outside a durable run, the modifier behaves like `retrying`.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts, including the first one.
  ///   - backoff: The delays between attempts.
  ///   - isWorthwhile: Returns whether to make another attempt after an error.
  /// - Precondition: `attempts` is at least 1.
  public func durablyRetrying(
    attempts: Int, backoff: Backoff = .none,
    when isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> some ComposableOperation<Success> {
    precondition(attempts >= 1, "`attempts` must be at least 1 (was \(attempts))")
    return DurablyRetryingOperation(
      base: self, attempts: attempts, backoff: backoff, isWorthwhile: isWorthwhile)
  }
}

struct DurablyRetryingOperation<Base: ComposableOperation>: ComposableOperation {
  let base: Base
  let attempts: Int
  let backoff: Backoff
  let isWorthwhile: @Sendable (any Error) -> Bool

  var operationName: String { base.operationName }
  var modifiedOperation: (any ComposableOperation)? { base }
  func modifiedName(within reach: Int) -> ModifiedName { base.nameForModifier(within: reach) }

  func perform(in context: OperationContext) async throws -> Base.Success {
    do { return try await performHeld(in: context).value } catch { throw error.withoutLateOutcome }
  }

  func performHeld(in context: OperationContext) async throws -> HeldResult<Base.Success> {
    guard let journal = context.journal as? RunJournal else {
      return try await base.retrying(attempts: attempts, backoff: backoff, when: isWorthwhile)
        .performHeld(in: context)
    }
    var errors: [any Error] = []
    do {
      let result = try await perform(in: context, journal, errors: &errors)
      // No caller receives the errors of the earlier attempts.
      for error in errors { error.discardCarriedValues() }
      return result
    } catch let error as RetryError {
      throw error
    } catch {
      for error in errors { error.discardCarriedValues() }
      throw error
    }
  }

  /// - Parameter errors: Set to the errors of the attempts.
  private func perform(
    in context: OperationContext, _ journal: RunJournal, errors: inout [any Error]
  ) async throws -> HeldResult<Base.Success> {
    let part = try journal.part(JournalKey(reserved: "retry"))
    let coder = journal.session.coder
    var record = try AttemptRecord(part.stored, by: coder)
    errors = record.errors.map { $0.restored(journal.session.options) }
    // An attempt without an error was interrupted.
    while errors.count < record.begun {
      errors.append(journal.step.error(.interrupted(attempt: errors.count + 1)))
    }
    record.limit = attempts
    while record.begun < attempts {
      if let wake = record.wake { try await part.wait(until: wake, in: context) }
      record.begun += 1
      record.wake = nil
      try await part.store(
        .attempts, try coder.encode(record), attempts: record.begun, began: journal.session.now)
      let attempt = context.journaling(
        in: journal.forAttempt(
          record.begun, canPark: journal.canPark && base.isDurableWait))
      let (outcome, cleanup) = await attempt.ownedOutcome(of: base, asAttempt: record.begun)
      switch outcome {
      case .result(let value): return HeldResult(value, cleanup: cleanup)
      case .cancelled:
        // An attempt that the program or a wait has ended begins again, and does not count.
        if journal.step.parking != nil || Task.isCancelled {
          record.begun -= 1
          try await part.store(
            .attempts, try coder.encode(record), attempts: record.begun,
            began: journal.session.now)
        }
        throw CancellationError()
      case .error(let error):
        errors.append(error)
        record.errors = errors.map { StoredError($0, by: coder) }
        guard record.begun < attempts, isWorthwhile(error) else { break }
        let delay = delay(before: record.begun, in: context)
        record.wake = journal.session.now + delay.roundedUpMilliseconds
        try await part.store(
          .attempts, try coder.encode(record), attempts: record.begun, began: journal.session.now)
        context.tell {
          .retryScheduled(attempt: record.begun + 1, after: delay, because: error)
        }
        continue
      }
      break
    }
    throw RetryError(errors: errors, representsCancellation: false)
  }

  /// The delay before the attempt after `begun` attempts.
  private func delay(before begun: Int, in context: OperationContext) -> Duration {
    var delays = Backoff.Delays(backoff)
    var randomness = context.randomness
    var delay = Duration.zero
    for _ in 0..<begun { delay = delays.delay(using: &randomness) }
    return delay
  }
}

/// The attempts as the journal stores them.
struct AttemptRecord: Codable {
  var begun = 0
  /// The largest number of attempts; nil in a record of an earlier version.
  var limit: Int?
  /// When the next attempt may begin, in milliseconds since 1970.
  var wake: Int64?
  var errors: [StoredError] = []

  init(_ stored: StoredStep?, by coder: any RunCoder) throws {
    guard let stored, let value = stored.value else { return }
    self = try coder.decode(AttemptRecord.self, from: value)
  }
}
