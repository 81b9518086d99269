/// Where the children of a parallel composite come from and what becomes of their results.
protocol ParallelPlan<Success>: Sendable {
  associatedtype Success: Sendable

  /// Runs the children.
  ///
  /// - Throws: A ``ParallelOperationError`` if that does not come to a `Success`.
  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success>
}

/// Children of one type.
struct ListPlan<Child: ComposableOperation>: ParallelPlan {
  let children: ContiguousArray<Child>
  let width: OperationWidth
  let mode: FailureMode

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<[Child.Success]> {
    let run = ListRun<Child>(count: children.count, limit: width.limit, goal: mode.goal)
    await run.run(children, in: context)
    return try run.heldResults { [children] in children[$0].operationName }
  }
}

/// Children of several types that give the same.
struct MixedListPlan<Value: Sendable>: ParallelPlan {
  let children: ContiguousArray<any ComposableOperation<Value>>
  let width: OperationWidth
  let mode: FailureMode

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<[Value]> {
    let run = ListRun<AnyOperation<Value>>(
      count: children.count, limit: width.limit, goal: mode.goal)
    await run.run(children, in: context)
    return try run.heldResults { [children] in children[$0].operationName }
  }
}

/// Children that give different things, or a plan made from another one.
struct ClosurePlan<Success: Sendable>: ParallelPlan {
  let performing:
    nonisolated(nonsending) @Sendable (OperationContext) async throws -> HeldResult<Success>

  nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Success> {
    try await performing(context)
  }
}
