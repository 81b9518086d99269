/// The decision on a run that must be admitted before it begins.
enum Admission: Sendable {
  case begin
  case cancelled
  case refused(any Error)
}

extension ComposableOperation {
  /// Performs a run from its first event to its last. The body begins when the run is admitted. The
  /// caller passes on or discards a late outcome.
  // Separate from the variant without admission: with a closure for the decision, that variant
  // would not fit into the first memory of its task, and would take a kilobyte more.
  nonisolated(nonsending) func complete(
    in scope: OperationScope, admittedBy admission: nonisolated(nonsending) () async -> Admission
  ) async -> Completion<Success> {
    let memory = UnsafeMutablePointer<Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    guard scope.isObserved else {
      return await completeBody(into: slot, in: scope, admittedBy: admission)
        .movingValue(from: slot)
    }
    scope.report(.created, step: .created)
    let completion = await withTaskCancellationHandler {
      await completeBody(into: slot, in: scope, admittedBy: admission)
    } onCancel: {
      scope.reportCancellation()
    }
    if scope.isReportingCancellation { await scope.waitForReport() }
    scope.reportEnd(completion) { slot.value(as: Success.self) }
    return completion.movingValue(from: slot)
  }

  private nonisolated(nonsending) func completeBody(
    into slot: ResultSlot, in scope: OperationScope,
    admittedBy admission: nonisolated(nonsending) () async -> Admission
  ) async -> Completion<Void> {
    switch await admission() {
    case .begin: return await completeBody(into: slot, in: scope, depth: 0)
    case .cancelled:
      _ = scope.markEnded()
      return .neverBegan
    case .refused(let error):
      let isTaskCancelled = Task.isCancelled
      return .error(error, wasCancelled: scope.markEnded() || isTaskCancelled)
    }
  }
}
