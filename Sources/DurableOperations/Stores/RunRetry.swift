/// From which step a run is retried.
package struct RunRetry: Sendable {
  /// The name of the run.
  package let id: RunID
  /// The first step to run again.
  package let first: Int
  /// Whether the step in progress keeps its keys: nothing of a stuck run is lost.
  package let keepsKeys: Bool

  /// - Parameters:
  ///   - step: The step that the caller asks for.
  ///   - last: The last finished step.
  /// - Throws: A ``RunStoreError`` if the run cannot be retried, or has no such step.
  package init(of run: StoredRun, from step: Int?, last: StoredStep?) throws {
    id = run.id
    guard run.state != .running, run.state != .ready else {
      throw RunStoreError(
        .wrongState, "run \(id) is \(run.state.rawValue), so there is nothing to retry")
    }
    // A failed last step is repeated; a stuck run continues where it is.
    let isLastFailed = run.state == .error && last?.kind == .error
    first = step ?? (isLastFailed ? last?.position ?? 0 : run.stepCount)
    keepsKeys = step == nil && run.state == .stuck
    guard first >= 0, first <= run.stepCount else {
      throw RunStoreError(
        .noSuchStep,
        "run \(id) has no step \(first): it has finished \(run.stepCount) steps, from 0")
    }
  }

  /// The error if the step before the first one is not kept.
  ///
  /// - Parameter oldest: The oldest step that is kept.
  package func error(oldest: Int?) -> RunStoreError {
    RunStoreError(
      .noSuchStep,
      """
      run \(id) cannot be retried from step \(first): its history keeps fewer steps; the oldest step \
      to retry from is \((oldest ?? 0) + 1)
      """)
  }
}
