internal import CompositeOperations

/// Performs a step, and stores its outcome before it ends.
///
/// A modifier of the step, so that names, observers and weights are the step's.
struct JournalingStep<Base: ComposableOperation>: TransparentOperation {
  let base: Base
  let recorder: StepRecorder

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    let step = recorder.step
    let held: HeldResult<Base.Success>
    do {
      guard StoredValue.isStorable(Base.Success.self) else {
        throw StepNotCodableError(
          run: step.session.run, step: step.position, name: step.name, type: "\(Base.Success.self)")
      }
      held = try await base.performHeld(in: context.journaling(in: RunJournal(of: step)))
    } catch {
      try await recorder.record(error, wasCancelled: Task.isCancelled)
      throw error
    }
    do { try await recorder.record(held.value) } catch {
      held.cleanup?()
      throw error
    }
    return HeldResult(held.value)
  }
}

/// Stores the outcome of a step.
final class StepRecorder: Sendable {
  let step: StepInProgress
  private let types: StepTypes
  private let mangledName: String
  /// The encoded sequence to store with the step; nil if it has not changed.
  private let sequence: String?
  /// The positions of the steps that the history does not keep after this one.
  private let dropped: Range<Int>
  private let began: Int64
  private let recorded = Lock<StoredStep?>(nil)

  init(
    _ step: StepInProgress, types: StepTypes, mangledName: String, sequence: String?,
    dropping dropped: Range<Int>
  ) {
    self.step = step
    self.types = types
    self.mangledName = mangledName
    self.sequence = sequence
    self.dropped = dropped
    began = step.session.now
  }

  /// The finished step; nil if it was not stored.
  var finished: StoredStep? { recorded.withLock { $0 } }

  /// Stores a result, also if it came after a cancellation.
  ///
  /// - Throws: The error of the coder or the limit, which is stored in its place; the error of the
  ///   store.
  func record(_ value: any Sendable) async throws {
    if let failure = step.failure { throw failure }
    let text: String
    do {
      text = try StoredValue.encode(value, by: step.session.coder)
      try step.checkSize(of: text)
    } catch {
      try await store(.error, try encoded(error))
      throw error
    }
    try await store(.result, text)
  }

  /// Stores an error, unless it ends the step without an outcome.
  ///
  /// - Throws: The error of the store.
  func record(_ error: any Error, wasCancelled: Bool) async throws {
    // Parked and stuck steps have no outcome, and a cancelled step runs again.
    // A step whose store has failed runs again, too.
    if step.parking != nil || step.stuckReason != nil || step.failure != nil || wasCancelled {
      return
    }
    let isCancellation = error.meansCancellation
    let text = isCancellation ? nil : try encoded(error)
    error.discardCarriedValues()
    try await store(isCancellation ? .cancelled : .error, text)
  }

  private func encoded(_ error: any Error) throws -> String {
    try step.session.coder.encode(StoredError(error, by: step.session.coder))
  }

  private func store(_ kind: RunDetails.Kind, _ value: String?) async throws {
    let session = step.session
    let row = StoredStep(
      position: step.position, key: "", name: step.name, types: types, mangledName: mangledName,
      kind: kind, value: value, sequence: sequence, attempts: step.attempts,
      fence: session.token.fence, began: began, ended: session.now)
    try await step.request {
      try await session.backend.append(
        row, dropping: dropped, hasKeys: step.hasKeys, by: session.token)
    }
    recorded.withLock { $0 = row }
  }
}
