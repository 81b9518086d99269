/// What a run is told that has to be admitted before it begins.
enum Admission: Sendable {
  case begin
  case cancelled
  case refused(any Error)
}

extension OperationScope {
  /// The run that stands in this scope, from its first event to its last, which begins when it is
  /// admitted. The caller passes a late outcome on or discards it.
  // Apart from the run that just begins: with a closure for what decides, that one would not fit into the
  // first memory of its task, and take a kilobyte more.
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
