/// Children that are created one by one while the composite runs, all with the same result type.
struct SourcePlan<Value: Sendable, Success: Sendable>: Sendable {
  /// The result of the composite.
  enum Giving: Sendable {
    /// The results, in the order of the children.
    case results(@Sendable ([Value]) -> Success)
    /// No results: each one is consumed as it arrives.
    case nothing(Success, consumer: Consumption.Consumer)
  }

  /// Creates the source of one run.
  let makeSource: nonisolated(nonsending) @Sendable () async throws -> ChildSource
  let width: OperationWidth
  let giving: Giving
  /// Returns the name of the type of the children.
  let childName: @Sendable () -> String

  nonisolated(nonsending) func performHeld(
    in context: OperationContext, onFailure mode: FailureMode
  ) async throws -> HeldResult<Success> {
    let source: ChildSource
    do {
      source = try await makeSource()
    } catch {
      throw ParallelOperationError(
        evidence: SourceOutcomes<Value>(.init(sourceError: error), outcomes: [], name: ""))
    }
    switch giving {
    case .results(let make):
      let blocks = SlotBlocks(of: Value.self)
      let record = await run(source, .kept(in: blocks), onFailure: mode, in: context)
      guard record.isComplete else {
        let errors = Dictionary(
          record.losses.compactMap { loss in loss.error.map { (loss.index, $0) } },
          uniquingKeysWith: { first, _ in first })
        let outcomes = blocks.takeOutcomes(of: Value.self, errors: errors)
        throw ParallelOperationError(
          evidence: SourceOutcomes(record, outcomes: outcomes, name: childName()))
      }
      let results = make(blocks.takeResults(of: Value.self))
      return HeldResult(results, cleanup: cleanup(ofAll: record.cleanups))
    case .nothing(let success, let consumer):
      let consumption = Consumption(
        by: consumer,
        dropping: { slot in _ = slot.move(as: Value.self) },
        slots: SlotBlocks(of: Value.self, blockSize: 16), limit: width.limit)
      let record = await run(source, .consumed(consumption), onFailure: mode, in: context)
      if record.isComplete { return HeldResult(success) }
      throw ParallelOperationError(evidence: SourceOutcomes<Value>(record, outcomes: nil, name: ""))
    }
  }

  private nonisolated(nonsending) func run(
    _ source: ChildSource, _ results: SourceRun.Results, onFailure mode: FailureMode,
    in context: OperationContext
  ) async -> SourceRun.Record {
    await SourceRun(
      source, limit: width.limit, goal: mode.goal, results: results, in: context
    ).record()
  }
}
