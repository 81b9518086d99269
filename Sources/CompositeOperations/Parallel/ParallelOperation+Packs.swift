extension ParallelOperation {
  /// Creates a composite that runs operations of different types in parallel; its result is a
  /// tuple.
  ///
  /// ```swift
  /// let (profile, news) = try await ParallelOperation(FetchProfile(user), FetchNews()).run().get()
  /// ```
  ///
  /// - Parameters:
  ///   - child: The operations.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  @_disfavoredOverload
  public init<each Child: ComposableOperation>(
    _ child: repeat each Child, width: OperationWidth = .adaptive,
    onFailure mode: FailureMode? = nil
  ) where Success == (repeat (each Child).Success) {
    let children = StackSafe((repeat each child))
    self.init(
      listing: { listed(repeat each children.value) }, onFailure: mode,
      performing: { context, mode in
        try await performEach(repeat each children.value, width: width, mode: mode, in: context)
      })
  }

  /// Creates a composite that runs operations of different types in parallel; its result is a tuple
  /// of their outcomes.
  ///
  /// Every child runs, unless the failure mode is ``FailureMode/cancelRemaining``. The composite
  /// ends without a result only if it is cancelled from outside.
  ///
  /// - Parameters:
  ///   - child: The operations.
  ///   - width: The maximum number of children in flight.
  ///   - mode: The reaction to a child that ends without a result.
  public init<each Child: ComposableOperation>(
    collectingOutcomesOf child: repeat each Child, width: OperationWidth = .adaptive,
    onFailure mode: FailureMode = .runAll
  ) where Success == (repeat Outcome<(each Child).Success>) {
    let children = StackSafe((repeat each child))
    self.init(
      listing: { listed(repeat each children.value) }, onFailure: mode,
      performing: { context, mode in
        let run = PackRun(
          repeat each children.value, limit: width.limit, goal: mode.goal)
        await run.run(in: context)
        var index = -1
        func next<Value>(_ type: Value.Type) -> Outcome<Value> {
          index += 1
          return run.takeOutcome(type, at: index)
        }
        return HeldResult(
          (repeat next((each Child).Success.self)), cleanup: run.runState.cleanupOfAll)
      })
  }
}

private nonisolated(nonsending) func performEach<each Child: ComposableOperation>(
  _ child: repeat each Child, width: OperationWidth, mode: FailureMode,
  in context: OperationContext
) async throws -> HeldResult<(repeat (each Child).Success)> {
  let run = PackRun(repeat each child, limit: width.limit, goal: mode.goal)
  await run.run(in: context)
  var index = -1
  if run.runState.isComplete {
    func next<Value>(_ type: Value.Type) -> Value {
      index += 1
      return run.take(type, at: index)
    }
    return HeldResult(
      (repeat next((each Child).Success.self)),
      cleanup: run.runState.holdsCleanups ? run.runState.cleanupOfAll : nil)
  }
  var outcomes: [Outcome<any Sendable>] = []
  func collect<Value: Sendable>(_ type: Value.Type) {
    index += 1
    outcomes.append(run.takeOutcome(type, at: index).map { $0 })
  }
  repeat collect((each Child).Success.self)
  let children = run.children
  throw ParallelOperationError(
    evidence: ListEvidence(outcomes, on: run.runState) { children[$0].operationName })
}

private func listed<each Child: ComposableOperation>(
  _ child: repeat each Child
) -> [any ComposableOperation] {
  var list: [any ComposableOperation] = []
  for child in repeat each child { list.append(child) }
  return list
}
