extension ComposableOperation {
  /// Creates the scope of a run, with the observers of the operation's modifiers.
  ///
  /// - Parameters:
  ///   - parent: The scope of the enclosing run.
  ///   - hold: What the run holds; by default, what the enclosing run holds.
  ///   - deadline: The deadline of the run; by default, the deadline of the enclosing run.
  ///   - attempt: The number of the attempt, from 1.
  func makeScope(
    in environment: consuming OperationEnvironment, below parent: OperationScope? = nil,
    holding hold: RunHold? = nil, until deadline: EnclosingDeadline? = nil, attempt: Int = 1
  ) -> OperationScope {
    if modifiedOperation == nil, !environment.isObserved {
      return OperationScope(
        parent: parent, name: "", environment: environment, joined: 0, hold: hold ?? parent?.hold,
        deadline: deadline, attempt: attempt, share: ProgressShare())
    }
    let own = ModifierTraits(of: self)
    if own.bearers > 0 { environment.observers += own.observers }
    // Only observers need the name, and computing it takes longer than a short run.
    let name = environment.isObserved ? operationName : ""
    return OperationScope(
      parent: parent, name: name, environment: environment, joined: own.bearers,
      hold: hold ?? parent?.hold, deadline: deadline, attempt: attempt, share: own.share)
  }

  /// Performs a run as a child of the run that a context belongs to.
  nonisolated(nonsending) func complete(
    in scope: OperationScope, below context: OperationContext
  ) async -> Completion<Success> {
    // Each observed run registers a cancellation handler. The Swift runtime walks all handlers of
    // the task to remove one, so nested runs continue in a fresh task before there are many.
    if context.isBeyondDeepest {
      return await UnstructuredTasks.run { await complete(in: scope, depth: 0) }
    }
    return await complete(in: scope, depth: context.depth + 1)
  }

  /// Performs a run from its first event to its last. The caller passes on or discards a late
  /// outcome.
  ///
  /// - Parameter depth: How many runs are nested since the last fresh stack.
  @usableFromInline nonisolated(nonsending) func complete(
    in scope: OperationScope, depth: Int
  ) async -> Completion<Success> {
    guard scope.isObserved else { return await completeUnobserved(in: scope, depth: depth) }
    let memory = UnsafeMutablePointer<Success>.allocate(capacity: 1)
    defer { unsafe memory.deallocate() }
    let slot = unsafe ResultSlot(at: memory)
    return await complete(into: slot, in: scope, depth: depth).movingValue(from: slot)
  }

  /// Performs a run from its first event to its last. The caller passes on or discards a late
  /// outcome.
  ///
  /// - Parameters:
  ///   - slot: The memory for the value.
  ///   - depth: How many runs are nested since the last fresh stack.
  @inline(__always) nonisolated(nonsending) func complete(
    into slot: ResultSlot, in scope: OperationScope, depth: Int
  ) async -> Completion<Void> {
    guard scope.isObserved else {
      return await completeBody(into: slot, in: scope, depth: depth)
    }
    scope.report(.created, step: .created)
    let completion = await withTaskCancellationHandler {
      await completeBody(into: slot, in: scope, depth: depth)
    } onCancel: {
      scope.reportCancellation()
    }
    if scope.isReportingCancellation { await scope.waitForReport() }
    scope.reportEnd(completion) { slot.value(as: Success.self) }
    return completion
  }

  /// Performs a run that has no observers, without memory for its value.
  @inlinable nonisolated(nonsending) func completeUnobserved(
    in scope: OperationScope, depth: Int
  ) async -> Completion<Success> {
    guard scope.beginUnobserved(isTaskCancelled: Task.isCancelled) else { return .neverBegan }
    do {
      let held = try await performHeld(in: OperationContext(ofBodyIn: scope, depth: depth))
      let isTaskCancelled = Task.isCancelled
      return .value(
        held.value, cleanup: held.cleanup, wasCancelled: scope.markEnded() || isTaskCancelled)
    } catch {
      let isTaskCancelled = Task.isCancelled
      return .error(error, wasCancelled: scope.markEnded() || isTaskCancelled)
    }
  }

  /// Performs the body of a run, unless the run has been cancelled, and decides its outcome.
  @inline(__always) nonisolated(nonsending) func completeBody(
    into slot: ResultSlot, in scope: OperationScope, depth: Int
  ) async -> Completion<Void> {
    guard scope.begin(isTaskCancelled: Task.isCancelled) else { return .neverBegan }
    do {
      let context = OperationContext(ofBodyIn: scope, depth: depth)
      let cleanup = try await perform(into: slot, in: context)
      let isTaskCancelled = Task.isCancelled
      return .value((), cleanup: cleanup, wasCancelled: scope.markEnded() || isTaskCancelled)
    } catch {
      let isTaskCancelled = Task.isCancelled
      return .error(error, wasCancelled: scope.markEnded() || isTaskCancelled)
    }
  }
}

extension Completion<Void> {
  /// The completion with the value in a slot, in time or late, which is moved out.
  func movingValue<Success: Sendable>(from slot: ResultSlot) -> Completion<Success> {
    map { slot.move(as: Success.self) }
  }
}

extension OperationContext {
  /// The context of the body of a run, without a scope if the environment is the default one,
  /// and the run holds nothing and has no deadline.
  @usableFromInline init(ofBodyIn scope: OperationScope, depth: Int) {
    let isPlain =
      scope.environment.isPlain && scope.hold == nil && scope.deadline == nil
    self.init(scope: isPlain ? nil : scope, depth: depth)
  }
}
