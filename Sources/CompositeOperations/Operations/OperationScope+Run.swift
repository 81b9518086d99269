extension OperationScope {
  /// A scope for a run of an operation, with the observers that it brings.
  ///
  /// - Parameter parent: The run that it is part of.
  convenience init(
    of operation: some ComposableOperation, in environment: OperationEnvironment,
    below parent: OperationScope? = nil
  ) {
    let own = OwnObservers(of: operation)
    var environment = environment
    environment.observers += own.observers
    // Nobody asks for the name where nobody observes; making it takes longer than a short run.
    let name = environment.observers.isEmpty ? "" : operation.operationName
    self.init(parent: parent, name: name, environment: environment, joined: own.bearers)
  }

  /// The run that stands in this scope, from its first event to its last.
  ///
  /// - Parameter depth: How many immediate tasks stand on one another on this thread's stack.
  nonisolated(nonsending) func ending<Performed: ComposableOperation>(
    of operation: Performed, depth: Int
  ) async -> Ending<Performed.Success> {
    guard isObserved else {
      let ending = await decidedEnding(of: operation, depth: depth)
      ending.discardLate()
      return ending
    }
    report(.created)
    let ending = await withTaskCancellationHandler {
      await decidedEnding(of: operation, depth: depth)
    } onCancel: {
      reportCancellation()
    }
    // No handler runs any more, but the handle may have cancelled the run a moment before its task.
    if ending.wasCancelled { reportCancellation() }
    report(.ended(ending.outcome.map { $0 }, late: ending.late?.map { $0 }))
    ending.discardLate()
    return ending
  }

  private nonisolated(nonsending) func decidedEnding<Performed: ComposableOperation>(
    of operation: Performed, depth: Int
  ) async -> Ending<Performed.Success> {
    if Task.isCancelled || isCancelled {
      _ = decideEnd()
      return .neverBegan
    }
    report(.started)
    let context = OperationContext(scope: environment.isPlain ? nil : self, depth: depth)
    let body: Outcome<Performed.Success>
    var disposal: Disposal?
    do {
      let held = try await operation.performHeld(in: context)
      body = .result(held.value)
      disposal = held.disposal
    } catch {
      body = .error(error)
    }
    let isTaskCancelled = Task.isCancelled
    return Ending(of: body, disposal: disposal, wasCancelled: decideEnd() || isTaskCancelled)
  }
}
