/// What a run is told that has to be admitted before it begins.
enum Admission: Sendable {
  case begin
  case cancelled
  case refused(any Error)
}

extension OperationScope {
  /// The run that stands in this scope, from its first event to its last, which begins when it is
  /// admitted.
  nonisolated(nonsending) func typedEnding<Performed: ComposableOperation>(
    of operation: Performed,
    admittedBy admission: nonisolated(nonsending) () async -> Admission
  ) async -> TypedEnding<Performed.Success> {
    await typedEnding { slot in
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
}
