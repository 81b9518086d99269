extension ComposableOperation {
  /// Runs the operation as part of the calling task and says how it ended.
  ///
  /// The run is cancelled when the calling task is; in a task that is cancelled already the body
  /// never begins. It takes place outside the caller's actor.
  ///
  /// ```swift
  /// let issues = try await FetchIssues(repository: repository).run().get()
  /// ```
  @inlinable @concurrent public func run() async -> Outcome<Success> {
    // The check preserves the hop off the actor, as the one in `attendedEnd` does.
    Task.isCancelled ? .cancelled : await OperationContext().begunOutcome(of: self)
  }

  /// Runs the operation in an environment, as part of the calling task.
  ///
  /// - Parameter environment: The clock, random numbers and observers of the run and of everything
  ///   below it, and where its bodies run.
  @concurrent public func run(in environment: OperationEnvironment) async -> Outcome<Success> {
    let scope = OperationScope(of: self, in: environment)
    guard let executor = environment.executor else { return await run(in: scope) }
    return await withTaskExecutorPreference(executor) { await run(in: scope) }
  }

  private nonisolated(nonsending) func run(in scope: OperationScope) async -> Outcome<Success> {
    let ending = await scope.typedEnding(of: self, depth: 0)
    ending.discardLate()
    return ending.outcome
  }

  /// Starts a run that goes on by itself, and gives its handle.
  ///
  /// The run copies the caller's priority and task-local values. It leaves the caller's actor and
  /// is not cancelled with the caller's task. Nobody needs to keep the handle: the run lives until
  /// it has ended.
  ///
  /// ```swift
  /// let run = sync.start()
  /// cancelButton.onClick { run.cancel(because: "the user asked for it") }
  /// let outcome = await run.outcome
  /// ```
  ///
  /// - Parameters:
  ///   - environment: The clock, random numbers and observers of the run and of everything below it, and
  ///     where its bodies run.
  ///   - count: How many events are kept for ``OperationRun/events``, the last ones; none by default, because
  ///     a run that keeps some is an observed one.
  ///   - tracksProgress: Whether ``OperationRun/progress`` tells how far it is; that makes it an observed one, too.
  /// - Precondition: `count` is not negative.
  public func start(
    in environment: OperationEnvironment = OperationEnvironment(), keepingEvents count: Int = 0,
    trackingProgress tracksProgress: Bool = false
  ) -> OperationRun<Success> {
    precondition(count >= 0, "`keepingEvents` must not be negative (was \(count))")
    let records = OperationRun<Success>.Records(
      log: count > 0 ? EventLog(keeping: count) : nil,
      progress: tracksProgress ? ProgressObserver() : nil)
    return OperationRun(of: self, in: environment, keeping: records)
  }
}
