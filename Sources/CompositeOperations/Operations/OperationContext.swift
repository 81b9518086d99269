internal import ThreadSupport

/// The context of a running operation, through which it runs other operations as children.
///
/// ```swift
/// struct FetchIssues: ComposableOperation {
///   func perform(in context: OperationContext) async throws -> [Issue] {
///     let user = try await context.run(FetchUser())
///     return try await context.run(FetchIssuesOf(user))
///   }
/// }
/// ```
///
/// A context can outlive its body. An operation that is then run through it is only part of the
/// calling task, and no longer a child of the run.
// Two words. Everything expensive is in the scope, which is nil if the run is not observed, has the
// default environment and holds no permits.
@frozen public struct OperationContext: Sendable {
  @usableFromInline let scope: OperationScope?
  /// How many runs are nested since the last fresh stack, and since a `run()` without a context.
  /// Only composites and observed runs count.
  @usableFromInline let depth: Int

  /// Creates a context outside any run, with the default environment.
  @inlinable public init() { self.init(scope: nil, depth: 0) }

  @inlinable init(scope: OperationScope?, depth: Int) {
    self.scope = scope
    self.depth = depth
  }

  /// The environment of the run: its clock, random numbers and observers.
  ///
  /// An operation that is started in this environment is not a child of the run.
  public var environment: OperationEnvironment { surroundings.detached }

  /// The complete environment of the run, which its children inherit.
  var surroundings: OperationEnvironment { scope?.environment ?? OperationEnvironment() }

  /// The clock that measures the waits of the run.
  public var clock: any Clock<Duration> { scope?.environment.clock ?? ContinuousClock() }

  /// The source of the run's random numbers.
  public var randomness: OperationRandomness { surroundings.randomness }

  /// The names from the outermost run to this one; empty if the run is not observed.
  public var path: OperationPath {
    OperationPath(place: scope?.isObserved == true ? scope?.place : nil)
  }

  /// Runs another operation as a child of this run and returns its result.
  ///
  /// The child is part of the calling task: it is cancelled with the task and has ended when this
  /// method returns. It does not run on the caller's actor. Its value or error after a cancellation
  /// is only in the event of its end.
  ///
  /// - Parameter child: The operation to run.
  /// - Returns: The result of the child.
  /// - Throws: The error of the child, or `CancellationError` if the child was cancelled.
  @inlinable public nonisolated(nonsending) func run<Child: ComposableOperation>(
    _ child: Child
  ) async throws -> Child.Success {
    try await outcome(of: child).get()
  }

  /// Runs another operation as a child of this run and returns its outcome.
  ///
  /// The child is part of the calling task: it is cancelled with the task and has ended when this
  /// method returns. It does not run on the caller's actor.
  ///
  /// - Parameter child: The operation to run.
  /// - Returns: The outcome of the child.
  @inlinable public nonisolated(nonsending) func outcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    let actor = #isolation
    if scope != nil || actor != nil { return await completeInScope(child).outcomeDiscardingLate }
    return await unobservedOutcome(of: child)
  }

  /// Runs a child and returns its completion.
  @inlinable nonisolated(nonsending) func complete<Child: ComposableOperation>(
    _ child: Child
  ) async -> Completion<Child.Success> {
    let actor = #isolation
    if scope != nil || actor != nil { return await completeInScope(child) }
    return await completeUnobserved(child)
  }

  /// Runs a child that is not observed: the rules O2 to O4 and nothing else.
  // Inlined: an additional asynchronous call takes a third of an attempt that succeeds at once.
  @inlinable @inline(__always)
  nonisolated(nonsending) func completeUnobserved<Child: ComposableOperation>(
    _ child: Child
  ) async -> Completion<Child.Success> {
    if Task.isCancelled { return .neverBegan }
    do {
      let held = try await child.performHeld(in: self)
      return .value(held.value, cleanup: held.cleanup, wasCancelled: Task.isCancelled)
    } catch {
      return .error(error, wasCancelled: Task.isCancelled)
    }
  }

  /// Returns the outcome of ``completeUnobserved(_:)``. Discards a late outcome.
  // A separate function: releasing the cleanup at once makes an empty child 5 % faster.
  @inlinable nonisolated(nonsending) func unobservedOutcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    if Task.isCancelled { return .cancelled }
    return await begunOutcome(of: child)
  }

  /// Same as ``unobservedOutcome(of:)``, for a task that was just found not to be cancelled.
  @inlinable nonisolated(nonsending) func begunOutcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    do {
      let held = try await child.performHeld(in: self)
      if !Task.isCancelled { return .result(held.value) }
      held.cleanup?()
      return .cancelled
    } catch {
      let completion = Completion<Child.Success>.error(error, wasCancelled: Task.isCancelled)
      return completion.outcomeDiscardingLate
    }
  }

  /// Runs a child if the context has a scope or the caller is isolated to an actor, which this
  /// leaves.
  @usableFromInline @concurrent func completeInScope<Child: ComposableOperation>(
    _ child: Child
  ) async -> Completion<Child.Success> {
    // This check preserves the hop off the actor: Swift 6.3.1 omits it in a `@concurrent` function
    // that does nothing before it calls a `nonisolated(nonsending)` function.
    let isCancelled = Task.isCancelled
    guard let scope, scope.isObserved else {
      return isCancelled ? .neverBegan : await completeUnobserved(child)
    }
    return await child.completeAsChild(in: self)
  }

  /// Runs a child as one of several attempts, and returns its outcome, with the closure that
  /// discards its value. Discards a late outcome.
  package func ownedOutcome<Child: ComposableOperation>(
    of child: Child, asAttempt attempt: Int
  ) async -> (Outcome<Child.Success>, Cleanup?) {
    let completion = await complete(child, asAttempt: attempt)
    return (completion.outcomeDiscardingLate, completion.cleanup)
  }

  /// Runs a child as one of several attempts.
  // A separate function: one more argument would use up the first memory slab of waiting tasks.
  @concurrent func complete<Child: ComposableOperation>(
    _ child: Child, asAttempt attempt: Int
  ) async -> Completion<Child.Success> {
    let isCancelled = Task.isCancelled
    guard let scope, scope.isObserved else {
      return isCancelled ? .neverBegan : await completeUnobserved(child)
    }
    return await child.complete(in: child.childScope(in: self, attempt: attempt), below: self)
  }
}

extension ComposableOperation {
  /// Runs the operation as a child, observed by the observers of its parent and its own.
  nonisolated(nonsending) func completeAsChild(
    in context: OperationContext
  ) async -> Completion<Success> {
    await complete(in: childScope(in: context), below: context)
  }

  /// Runs the operation as a child, observed by the observers of its parent and its own. Discards a
  /// late outcome.
  ///
  /// - Parameter slot: The memory for the value.
  nonisolated(nonsending) func completeAsChild(
    into slot: ResultSlot, in context: OperationContext
  ) async -> Completion<Void> {
    let completion = await complete(
      into: slot, in: childScope(in: context), depth: context.depth)
    completion.discardLateOutcome()
    return completion
  }

  /// Creates a scope for the run as a child and reports the child to the observers of its parent.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt, from 1.
  ///   - time: The time of the report.
  func childScope(
    in context: OperationContext, attempt: Int = 1, at time: EventTime = .now
  ) -> OperationScope {
    // In a context that has outlived its run, the child is only part of the calling task.
    let parent = context.scope?.hasEnded == true ? nil : context.scope
    var environment = context.surroundings
    // Timeouts that have not ended still count.
    let deadline = parent == nil ? context.deadline : nil
    if parent == nil, environment.isObserved { environment.observers = [] }
    let scope = makeScope(in: environment, below: parent, until: deadline, attempt: attempt)
    parent?.report(.childStarted(scope.id), step: .childStarted, at: time)
    return scope
  }

  /// Returns a scope for the run as a child and reports the child to the observers of its parent.
  ///
  /// - Parameters:
  ///   - time: The time of the report.
  ///   - spare: The scope of a child of the same run that has ended; nil afterwards, if it is used
  ///     again.
  func childScope(
    in context: OperationContext, at time: EventTime, using spare: inout OperationScope?
  ) -> OperationScope {
    guard modifiedOperation == nil, let parent = context.scope, !parent.hasEnded,
      let scope = OperationScope.renew(&spare, below: parent, name: operationName)
    else { return childScope(in: context, at: time) }
    parent.report(.childStarted(scope.id), step: .childStarted, at: time)
    return scope
  }
}

extension OperationContext {
  /// The maximum nesting of runs in one task, of composites under a preferred executor, and of
  /// composites on a stack of unknown size.
  ///
  /// Twice as many composites fit into 512 KiB, the smallest stack of the platforms.
  private static var deepest: Int { 48 }
  /// The maximum nesting of composites otherwise. The Swift runtime cancels the child tasks of child
  /// tasks recursively, on the stack of the thread that cancels the outermost one.
  private static var deepestOnMeasuredStack: Int { 96 }
  /// The maximum nesting of immediate tasks below a closure that begins on the stack of its run.
  private static var shallow: Int { 2 }

  /// The context for children that may begin on the stack of their composite.
  @usableFromInline var oneDeeper: OperationContext {
    OperationContext(scope: scope, depth: depth + 1)
  }

  /// Whether children must begin on a fresh stack: the thread uses half of its own, or too many
  /// composites are nested.
  @usableFromInline var isTooDeep: Bool {
    guard let quarters = SystemThread.usedQuartersOfStack else { return isBeyondDeepest }
    if quarters < 2, !isBeyondDeepest { return false }
    // A reproducible run must not depend on the size of a stack, unless it would overflow.
    if Task.hasPreferredExecutor { return quarters > 2 || isBeyondDeepest }
    return quarters >= 2 || depth > Self.deepestOnMeasuredStack
  }

  /// Whether more than ``deepest`` runs are nested.
  var isBeyondDeepest: Bool { depth > Self.deepest }

  /// Whether few runs are around this one. A closure that begins on its stack, and runs other
  /// operations, nests as deeply again.
  @usableFromInline var isShallow: Bool { depth <= Self.shallow }

  /// The context for children that begin in an ordinary task.
  @usableFromInline var onFreshStack: OperationContext { OperationContext(scope: scope, depth: 0) }
}

extension OperationContext {
  /// The clock of the environment; nil for a `ContinuousClock`, for which the process's timer is
  /// used.
  @usableFromInline var customClock: (any Clock<Duration>)? { scope?.environment.customClock }

  /// Waits for a duration on the clock of the environment. Does not wait if it is zero or negative.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, even if there is nothing to
  ///   wait for, and any error of a custom clock.
  @usableFromInline package nonisolated(nonsending) func wait(_ delay: Duration) async throws {
    try Task.checkCancellation()
    if delay <= .zero { return }
    if let customClock {
      try await customClock.wait(for: delay)
    } else {
      try await TimerSleep.sleep(nanoseconds: delay.wholeNanoseconds)
    }
  }

  /// Waits like ``wait(_:)`` and reports the wait to the observers of the run.
  @usableFromInline package nonisolated(nonsending) func pause(_ delay: Duration) async throws {
    guard delay > .zero else { return try await wait(delay) }
    try await waiting(for: .time(delay)) { try await wait(delay) }
  }

  /// Performs a body, and notifies the observers of the run that the run waits during the body.
  nonisolated(nonsending) func waiting<Value>(
    for wait: @autoclosure () -> OperationEvent.Wait,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    guard let scope, scope.isObserved, !scope.hasEnded else { return try await body() }
    return try await scope.waiting(for: wait(), body)
  }
}
