/// The decision on a run that must be admitted before it begins.
enum Admission: Sendable {
  case begin
  case cancelled
  case refused(any Error)
}

extension OperationScope {
  /// Performs the run of this scope, from its first event to its last. The body begins when the run
  /// is admitted. The caller passes a late outcome on or discards it.
  // Separate from the variant without admission: with a closure for the decision, that variant
  // would not fit into the first memory of its task, and would take a kilobyte more.
  nonisolated(nonsending) func typedEnding<Performed: ComposableOperation>(
    of operation: Performed,
    admittedBy admission: nonisolated(nonsending) () async -> Admission
  ) async -> TypedEnding<Performed.Success> {
    let memory = UnsafeMutablePointer<Performed.Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    guard isObserved else {
      let ending = await decidedEnding(of: operation, into: slot, admittedBy: admission)
      return TypedEnding(ending, valueIn: slot)
    }
    report(.created, step: .created)
    let ending = await withTaskCancellationHandler {
      await decidedEnding(of: operation, into: slot, admittedBy: admission)
    } onCancel: {
      reportCancellation()
    }
    if isReportingCancellation { await waitForReport() }
    reportEnd(ending) { slot.value(as: Performed.Success.self) }
    return TypedEnding(ending, valueIn: slot)
  }

  private nonisolated(nonsending) func decidedEnding(
    of operation: some ComposableOperation, into slot: ResultSlot,
    admittedBy admission: nonisolated(nonsending) () async -> Admission
  ) async -> Ending {
    switch await admission() {
    case .begin: return await decidedEnding(of: operation, into: slot, depth: 0)
    case .cancelled:
      _ = decideEnd()
      return .neverBegan
    case .refused(let error):
      let isTaskCancelled = Task.isCancelled
      return .error(error, wasCancelled: decideEnd() || isTaskCancelled)
    }
  }
}
