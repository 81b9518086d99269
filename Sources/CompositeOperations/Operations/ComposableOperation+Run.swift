extension ComposableOperation {
  /// Runs the operation as part of the calling task and returns its outcome.
  ///
  /// The run is cancelled with the calling task. In a task that is already cancelled, the body
  /// never begins. The run leaves the caller's actor: calling this on the main actor does not block
  /// it.
  ///
  /// ```swift
  /// let issues = try await FetchIssues(repository: repository).run().get()
  /// ```
  @inlinable @concurrent public func run() async -> Outcome<Success> {
    // The check preserves the hop off the actor, as the one in `completeInScope` does.
    Task.isCancelled ? .cancelled : await OperationContext().begunOutcome(of: self)
  }

  /// Runs the operation in an environment, as part of the calling task, and returns its outcome.
  ///
  /// - Parameter environment: The clock, random numbers, observers and executor of the run and of
  ///   its descendants.
  @concurrent public func run(in environment: OperationEnvironment) async -> Outcome<Success> {
    let scope = makeScope(in: environment)
    guard let executor = environment.executor else { return await run(in: scope) }
    return await withTaskExecutorPreference(executor) { await run(in: scope) }
  }

  private nonisolated(nonsending) func run(in scope: OperationScope) async -> Outcome<Success> {
    let completion = await complete(in: scope, depth: 0)
    completion.discardLateOutcome()
    return completion.outcome
  }

  /// Starts a run that is independent of the calling task, and returns its handle.
  ///
  /// The run copies the caller's priority and task-local values. It leaves the caller's actor and
  /// is not cancelled with the caller's task. The handle need not be kept: the run continues until
  /// it has ended.
  ///
  /// ```swift
  /// let run = sync.start()
  /// cancelButton.onClick { run.cancel(because: "the user asked for it") }
  /// let outcome = await run.outcome
  /// ```
  ///
  /// - Parameters:
  ///   - environment: The clock, random numbers, observers and executor of the run and of its
  ///     descendants.
  ///   - count: How many of the last events are kept for ``OperationRun/events``. None by default,
  ///     because an observed run takes longer.
  ///   - tracksProgress: Whether the run keeps its ``OperationRun/progress``. It is then observed,
  ///     too.
  /// - Returns: The handle of the run.
  /// - Precondition: `count` is not negative.
  @inlinable @discardableResult public func start(
    in environment: OperationEnvironment = OperationEnvironment(), keepingEvents count: Int = 0,
    trackingProgress tracksProgress: Bool = false
  ) -> OperationRun<Success> {
    let (scope, records) = makeScope(
      in: environment, keepingEvents: count, trackingProgress: tracksProgress)
    let task = UnstructuredTasks.startThrowing(on: scope.executor) {
      await completeStarted(in: scope)
    }
    return OperationRun(in: scope, as: task, keeping: records)
  }

  /// Creates the scope of a run with a handle, and the records that the run keeps for the handle.
  @usableFromInline func makeScope(
    in environment: OperationEnvironment, keepingEvents count: Int,
    trackingProgress tracksProgress: Bool
  ) -> (OperationScope, RunRecords) {
    precondition(count >= 0, "`keepingEvents` must not be negative (was \(count))")
    let records = RunRecords(
      log: count > 0 ? EventLog(keeping: count) : nil,
      progress: tracksProgress ? ProgressObserver() : nil)
    var environment = environment
    if let log = records.log { environment.observers.append(log) }
    if let progress = records.progress { environment.observers.append(progress) }
    return (makeScope(in: environment), records)
  }

  /// Performs a run with a handle from its first event to its last.
  @inlinable nonisolated(nonsending) func completeStarted(
    in scope: OperationScope
  ) async -> Completion<Success> {
    // Only the code for runs without observers is specialized for the operation's type.
    let completion =
      scope.isObserved
      ? await complete(in: scope, depth: 0) : await completeUnobserved(in: scope, depth: 0)
    if completion.isCancelled { completion.discardLateOutcome() }
    scope.finished()
    return completion
  }
}
