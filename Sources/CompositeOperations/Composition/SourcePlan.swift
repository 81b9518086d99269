/// Children that are made one by one while the composite runs.
struct SourcePlan<Child: ComposableOperation, Success: Sendable>: ParallelPlan {
  /// Makes the source of one run.
  let makeSource: nonisolated(nonsending) @Sendable () async throws -> ChildSource<Child>
  let width: OperationWidth
  let mode: FailureMode
  /// Uses the results as they come; if nil they are kept.
  let consumer: SourceRun<Child>.Consumer?
  let success: @Sendable ([Child.Success]) -> Success

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    var record = SourceRecord<Child>(keepsResults: consumer == nil)
    do {
      let run = SourceRun(
        try await makeSource(), limit: width.limit, goal: mode.goal, consumer: consumer)
      record = await run.run(in: context)
    } catch {
      record.sourceFailed(with: error)
    }
    guard record.isComplete else {
      throw ParallelOperationError(evidence: SourceEvidence(record))
    }
    let results = record.results.compactMap(\.self)
    let disposals = record.disposals
    if disposals.isEmpty { return HeldResult(success(results)) }
    return HeldResult(success(results)) { disposals.disposeInOrder() }
  }
}
