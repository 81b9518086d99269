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
    let (backend, token) = (step.session.backend, step.session.token)
    backend.stepBegan(
      RunningStep(position: step.position, name: step.name, began: recorder.began), by: token)
    defer { backend.stepEnded(by: token) }
    let held: HeldResult<Base.Success>
    do {
      guard StoredValue.isStorable(Base.Success.self) else {
        throw step.error(.notCodable(type: "\(Base.Success.self)"))
      }
      try step.checkChildren(of: base)
      let journal = RunJournal(of: step, committing: base.isCommitting ? recorder : nil)
      held = try await base.performHeld(in: context.journaling(in: journal))
    } catch {
      do { try await recorder.record(error, wasCancelled: Task.isCancelled) } catch let failure {
        error.discardCarriedValues()
        throw failure
      }
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
  let dropped: Range<Int>
  /// When the step began, in milliseconds since the beginning of 1970, UTC.
  let began: Int64
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

  /// Stores a result, also if it came after a cancellation. Does nothing if the step has stored it
  /// itself.
  ///
  /// - Throws: The error of the coder or the limit, which is stored in its place; the error of the
  ///   store.
  func record(_ value: any Sendable) async throws {
    if finished != nil { return }
    if let failure = step.failure { throw failure }
    // Whatever the operation has made of the error.
    if let reason = step.stuckReason {
      throw DurableRunError(step.session.run, .stuck(because: reason))
    }
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
    // A step whose store has failed runs again, too. An outcome that is stored stays.
    if step.parking != nil || step.stuckReason != nil || step.failure != nil || wasCancelled
      || finished != nil
    {
      return
    }
    let isCancellation = error.meansCancellation
    let text = isCancellation ? nil : try encoded(error)
    try await store(isCancellation ? .cancelled : .error, text)
  }

  private func encoded(_ error: any Error) throws -> String {
    try step.session.coder.encode(StoredError(error, by: step.session.coder))
  }

  private func store(_ kind: RunDetails.Kind, _ value: String?) async throws {
    let session = step.session
    let row = row(kind, value)
    try await step.request {
      try await session.backend.append(
        row, dropping: dropped, hasKeys: step.hasKeys, by: session.token)
    }
    recorded.withLock { $0 = row }
    session.place?.slot.progressed()
  }

  private func row(_ kind: RunDetails.Kind, _ value: String?) -> StoredStep {
    var row = StoredStep(
      position: step.position, key: "", name: step.name, types: types, mangledName: mangledName,
      kind: kind, value: value, sequence: sequence, attempts: step.attempts,
      fence: step.session.token.fence, began: began, ended: step.session.now)
    row.events = step.events
    return row
  }
}

extension StepRecorder: CommittingRecorder {
  func row(of result: String) -> StoredStep { row(.result, result) }

  func committed(_ row: StoredStep) { recorded.withLock { $0 = row } }
}
