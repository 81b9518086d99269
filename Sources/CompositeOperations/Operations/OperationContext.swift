/// What a running operation sees of its run, and how it runs other operations below it.
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
/// It may be kept: once the body has ended, what is run through it belongs to the calling task
/// alone.
// Two words. Everything that costs hangs off the scope, which is nil where nobody looks and the
// environment is the plain one.
@frozen public struct OperationContext: Sendable {
  @usableFromInline let scope: OperationScope?
  /// How many immediate tasks stand on one another on this thread's stack.
  @usableFromInline let depth: Int

  /// A context outside any run, with the plain environment.
  @inlinable public init() { self.init(scope: nil, depth: 0) }

  @inlinable init(scope: OperationScope?, depth: Int) {
    self.scope = scope
    self.depth = depth
  }

  /// The clock, the random numbers and the observers that the run stands in.
  ///
  /// What is started in it is part of no composite.
  public var environment: OperationEnvironment { surroundings.withoutGrowth }

  /// All that the run stands in, which its children stand in too.
  var surroundings: OperationEnvironment { scope?.environment ?? OperationEnvironment() }

  /// The clock that the run waits by.
  public var clock: any Clock<Duration> { surroundings.clock }

  /// The random numbers that the run draws.
  public var randomness: OperationRandomness { surroundings.randomness }

  /// The names from the outermost run to this one; empty where nobody observes the run.
  public var path: OperationPath {
    OperationPath(place: scope?.isObserved == true ? scope?.place : nil)
  }

  /// Runs another operation as a child of this run and gives its result.
  ///
  /// The child is part of the calling task: cancelled with it, and over when this returns. It runs
  /// outside the actor of its caller. Only the event of the child's end shows a late outcome of the
  /// child.
  ///
  /// - Throws: The child's error, or `CancellationError` if the child ended in a cancellation.
  @inlinable public nonisolated(nonsending) func run<Child: ComposableOperation>(
    _ child: Child
  ) async throws -> Child.Success {
    try await outcome(of: child).get()
  }

  /// Runs another operation as a child of this run and says how it ended.
  ///
  /// The child is part of the calling task: cancelled with it, and over when this returns. It runs
  /// outside the actor of its caller.
  @inlinable public nonisolated(nonsending) func outcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    let actor = #isolation
    if scope != nil || actor != nil { return await attendedEnd(of: child).outcomeDiscardingLate }
    return await unattendedOutcome(of: child)
  }

  @inlinable nonisolated(nonsending) func end<Child: ComposableOperation>(
    of child: Child
  ) async -> RunEnd<Child.Success> {
    let actor = #isolation
    if scope != nil || actor != nil { return await attendedEnd(of: child) }
    return await unattendedEnd(of: child)
  }

  /// The child's run where nobody looks: the rules O2 to O4 and nothing else.
  @inlinable nonisolated(nonsending) func unattendedEnd<Child: ComposableOperation>(
    of child: Child
  ) async -> RunEnd<Child.Success> {
    if Task.isCancelled { return RunEnd(.cancelled) }
    do {
      let held = try await child.performHeld(in: self)
      if !Task.isCancelled { return RunEnd(.result(held.value), disposal: held.disposal) }
      return RunEnd(lateValue: held.value, disposal: held.disposal)
    } catch {
      return RunEnd(throwing: error, wasCancelled: Task.isCancelled)
    }
  }

  /// The outcome of ``unattendedEnd(of:)``. Discards a late one.
  // By itself: with the disposal let go at once an empty child costs 5 % less.
  @inlinable nonisolated(nonsending) func unattendedOutcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    if Task.isCancelled { return .cancelled }
    return await begunOutcome(of: child)
  }

  /// The same where the task has just been found not to be cancelled.
  @inlinable nonisolated(nonsending) func begunOutcome<Child: ComposableOperation>(
    of child: Child
  ) async -> Outcome<Child.Success> {
    do {
      let held = try await child.performHeld(in: self)
      if !Task.isCancelled { return .result(held.value) }
      held.disposal?()
      return .cancelled
    } catch {
      return RunEnd(throwing: error, wasCancelled: Task.isCancelled).outcomeDiscardingLate
    }
  }

  /// The child's run where somebody looks, where the environment is not the plain one, or where
  /// the caller stands on an actor, which this leaves.
  @usableFromInline @concurrent func attendedEnd<Child: ComposableOperation>(
    of child: Child
  ) async -> RunEnd<Child.Success> {
    // The question keeps the hop off the actor: Swift 6.3.1 drops that of a `@concurrent` function
    // which does nothing before it calls one that stays where its caller is.
    let isCancelled = Task.isCancelled
    guard let scope, scope.isObserved else {
      return isCancelled ? RunEnd(.cancelled) : await unattendedEnd(of: child)
    }
    return await child.observedEnd(in: self)
  }

  /// The child's run as one of several attempts.
  // Apart, because one argument more would take the first memory of tasks that wait.
  @concurrent func end<Child: ComposableOperation>(
    of child: Child, asAttempt attempt: Int
  ) async -> RunEnd<Child.Success> {
    let isCancelled = Task.isCancelled
    guard let scope, scope.isObserved else {
      return isCancelled ? RunEnd(.cancelled) : await unattendedEnd(of: child)
    }
    let run = child.childScope(in: self, attempt: attempt)
    return RunEnd(await run.typedEnding(of: child, in: self))
  }
}

extension ComposableOperation {
  /// The run as a child, seen by the observers of its parent and by its own, with its value.
  nonisolated(nonsending) func observedEnd(in context: OperationContext) async -> RunEnd<Success> {
    RunEnd(await childScope(in: context).typedEnding(of: self, in: context))
  }

  /// The run as a child, seen by the observers of its parent and by its own. Discards a late outcome.
  ///
  /// - Parameter slot: Where the value is left.
  nonisolated(nonsending) func observedEnding(
    into slot: ResultSlot, in context: OperationContext
  ) async -> Ending {
    let ending = await childScope(in: context).ending(of: self, into: slot, depth: context.depth)
    ending.discardLate()
    return ending
  }

  /// A scope for the run as a child. The observers of its parent have been told.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt that it is, from 1.
  ///   - time: When that is.
  func childScope(
    in context: OperationContext, attempt: Int = 1, at time: EventTime = .now
  ) -> OperationScope {
    // A context that was kept beyond its run: the child belongs to the calling task alone.
    let parent = context.scope?.hasEnded == true ? nil : context.scope
    var environment = context.surroundings
    if parent == nil, environment.isObserved { environment.observers = [] }
    let scope = OperationScope(of: self, in: environment, below: parent, attempt: attempt)
    parent?.report(.childStarted(scope.place.id), step: .childStarted, at: time)
    return scope
  }
}
