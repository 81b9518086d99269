internal import SystemSupport

extension OperationScope {
  /// Creates a scope for a run of an operation, with the observers of its modifiers.
  ///
  /// - Parameters:
  ///   - parent: The scope of the enclosing run.
  ///   - hold: The permits that the run holds; by default, the ones of the enclosing run.
  ///   - attempt: The number of the attempt, from 1.
  convenience init(
    of operation: some ComposableOperation, in environment: consuming OperationEnvironment,
    below parent: OperationScope? = nil, holding hold: PermitHold? = nil, attempt: Int = 1
  ) {
    let own = ModifierTraits(of: operation)
    if own.bearers > 0 { environment.observers += own.observers }
    // Only observers need the name, and computing it takes longer than a short run.
    let name = environment.isObserved ? operation.operationName : ""
    self.init(
      parent: parent, name: name, environment: environment, joined: own.bearers,
      hold: hold ?? parent?.hold, attempt: attempt, share: own.share)
  }

  /// Performs the run as a child of the run that a context belongs to.
  nonisolated(nonsending) func typedEnding<Performed: ComposableOperation>(
    of operation: Performed, in context: OperationContext
  ) async -> TypedEnding<Performed.Success> {
    // Each observed run registers a cancellation handler. The Swift runtime walks all handlers of
    // the task to remove one, so nested runs continue in a fresh task before there are many.
    if context.isTooDeep {
      return await UnstructuredTasks.run { await self.typedEnding(of: operation, depth: 0) }
    }
    return await typedEnding(of: operation, depth: context.depth + 1)
  }

  /// Performs the run from its first event to its last. The caller passes on or discards a late
  /// outcome.
  ///
  /// - Parameter depth: How many immediate tasks are nested on the stack of this thread.
  nonisolated(nonsending) func typedEnding<Performed: ComposableOperation>(
    of operation: Performed, depth: Int
  ) async -> TypedEnding<Performed.Success> {
    let memory = UnsafeMutablePointer<Performed.Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    let ending = await ending(of: operation, into: slot, depth: depth)
    return TypedEnding(ending, valueIn: slot)
  }

  /// Performs the run from its first event to its last. The caller passes on or discards a late
  /// outcome.
  ///
  /// - Parameters:
  ///   - slot: The memory for the value.
  ///   - depth: How many immediate tasks are nested on the stack of this thread.
  @inline(__always) nonisolated(nonsending) func ending<Performed: ComposableOperation>(
    of operation: Performed, into slot: ResultSlot, depth: Int
  ) async -> Ending {
    guard isObserved else { return await decidedEnding(of: operation, into: slot, depth: depth) }
    report(.created, step: .created)
    let ending = await withTaskCancellationHandler {
      await decidedEnding(of: operation, into: slot, depth: depth)
    } onCancel: {
      reportCancellation()
    }
    if isReportingCancellation { await waitForReport() }
    reportEnd(ending) { slot.value(as: Performed.Success.self) }
    return ending
  }

  /// Begins the run, or ends it if it has been cancelled (O2).
  ///
  /// - Parameter isTaskCancelled: Evaluated again after observers were notified, because they may
  ///   cancel the run.
  /// - Returns: Whether the body may begin.
  func begin(isTaskCancelled: @autoclosure () -> Bool, at time: EventTime? = nil) -> Bool {
    if isTaskCancelled() || isCancelled {
      _ = decideEnd()
      return false
    }
    guard isObserved else { return true }
    report(.started, step: .started, at: time ?? .now)
    if isTaskCancelled() || isCancelled {
      _ = decideEnd()
      return false
    }
    return true
  }

  /// Returns the context of the body, without a scope if the environment is the default one and the
  /// run holds no permits.
  func bodyContext(depth: Int) -> OperationContext {
    OperationContext(scope: environment.isPlain && hold == nil ? nil : self, depth: depth)
  }

  /// Notifies observers of the end and discards a late outcome. Call it after a cancellation has
  /// been reported.
  ///
  /// - Parameter value: Returns the value of the body. Called only if the body returned one.
  func tell(_ ending: Ending, value: () -> any Sendable) {
    reportEnd(ending, value: value)
    ending.discardLate()
  }

  /// Notifies observers of the end. Call it after a cancellation has been reported.
  func reportEnd(_ ending: Ending, value: () -> any Sendable) {
    // The handle cancels the run before it cancels the task, so this may run in between.
    if ending.wasCancelled { reportCancellationBeforeEnd() }
    report(
      .ended(ending.outcome(value), late: ending.late(value)),
      step: ending.isResult ? .endedInResult : nil)
  }

  @inline(__always) nonisolated(nonsending) func decidedEnding(
    of operation: some ComposableOperation, into slot: ResultSlot, depth: Int
  ) async -> Ending {
    guard begin(isTaskCancelled: Task.isCancelled) else { return .neverBegan }
    do {
      let disposal = try await operation.perform(into: slot, in: bodyContext(depth: depth))
      let isTaskCancelled = Task.isCancelled
      return .value(disposal: disposal, wasCancelled: decideEnd() || isTaskCancelled)
    } catch {
      let isTaskCancelled = Task.isCancelled
      return .error(error, wasCancelled: decideEnd() || isTaskCancelled)
    }
  }
}
