extension ComposableOperation {
  /// The same operation, which begins only where all conditions are met.
  ///
  /// ```swift
  /// let isOnline = Condition("is online") { await network.isReachable }
  /// let save = SaveIssues(issues)
  ///   .requiring(isOnline, .confirmed("Save \(issues.count) issues?") { await ask($0) })
  /// ```
  ///
  /// Where one is not met the operation is skipped: its run ends as cancelled, and the event of its end
  /// shows a ``Skipped`` with the reason. Where one fails, its error is the run's. A failure counts
  /// before a skip, and a skip before the leave to proceed.
  ///
  /// Those that cannot wait are asked where they stand, and then the others side by side, each as a run
  /// below this one; so are those of modifiers next to one another. All are asked, unless one fails: what
  /// asks a person had better be asked behind the others, by a `requiring` that stands further inside,
  /// with another modifier in between.
  ///
  /// A cancellation ends the run at once: a condition that does not mind it is left behind, and
  /// ``OperationEvent/Kind/abandonedBodyEnded(_:)`` tells of its end.
  @inlinable public func requiring(_ conditions: Condition...) -> some ComposableOperation<Success>
  {
    RequiringOperation(base: self, conditions: conditions)
  }

  /// The same operation, which begins only where another one ends in `true`.
  ///
  /// As in ``requiring(_:)-(Condition...)``.
  @inlinable public func requiring(
    _ condition: some ComposableOperation<Bool>
  ) -> some ComposableOperation<Success> {
    RequiringOperation(base: self, conditions: [Condition(condition)])
  }

  /// The same operation, which begins only where something is so that need not be waited for.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the run's error.
  @inlinable public func requiring(
    _ name: String = "a condition", _ isMet: @escaping @Sendable () throws -> Bool
  ) -> some ComposableOperation<Success> {
    RequiringOperation(base: self, conditions: [Condition(name, isMet)])
  }

  /// The same operation, which begins only where something is so.
  ///
  /// - Parameters:
  ///   - name: What is to be so: "is online".
  ///   - isMet: Whether it is so. What it throws is the run's error.
  @inlinable public func requiring(
    _ name: String = "a condition",
    _ isMet: nonisolated(nonsending) @escaping @Sendable () async throws -> Bool
  ) -> some ComposableOperation<Success> {
    RequiringOperation(base: self, conditions: [Condition(name, isMet)])
  }
}

/// Requires conditions, and those of the modifiers right below it with them.
@usableFromInline protocol ConditionRequiring<Success>: ComposableOperation {
  var conditions: [Condition] { get }

  /// Performs for a modifier that has evaluated the conditions.
  nonisolated(nonsending) func performEvaluated(
    in context: OperationContext
  ) async throws -> HeldResult<Success>
}

@usableFromInline struct RequiringOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let conditions: [Condition]
  /// The base, if it requires conditions too.
  @usableFromInline let below: (any ConditionRequiring<Base.Success>)?
  /// Whether a condition may wait.
  @usableFromInline let waits: Bool

  @usableFromInline init(base: Base, conditions: [Condition]) {
    self.base = base
    below = base as? any ConditionRequiring<Base.Success>
    self.conditions = (below?.conditions ?? []) + conditions
    waits = self.conditions.contains { !$0.isImmediate }
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if waits {
      try await conditions.evaluate(in: context)
    } else {
      try conditions.evaluateAtOnce()
    }
    return try await performEvaluated(in: context)
  }
}

extension RequiringOperation: ConditionRequiring {
  @inlinable nonisolated(nonsending) func performEvaluated(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if let below { return try await below.performEvaluated(in: context) }
    return try await base.performHeld(in: context)
  }
}

extension [Condition] {
  /// Evaluates conditions that need not wait.
  ///
  /// - Throws: The first failure, or else a ``Skipped`` if one is not met.
  @usableFromInline func evaluateAtOnce() throws {
    var skipped: Skipped?
    for condition in self {
      switch condition.immediateVerdict {
      case .proceed, nil: break
      case .skip(let reason): skipped = skipped ?? reason
      case .fail(let error): throw error
      }
    }
    // A closure may have cancelled the run.
    try Task.checkCancellation()
    if let skipped { throw skipped }
  }

  /// Evaluates conditions: first those that need not wait, then the others side by side.
  ///
  /// - Throws: The first failure, or else a ``Skipped`` if one is not met, or `CancellationError` as
  ///   soon as the run is cancelled.
  @usableFromInline nonisolated(nonsending) func evaluate(
    in context: OperationContext
  ) async throws {
    var skipped: (any Error)?
    do { try evaluateAtOnce() } catch let error as Skipped { skipped = error }
    let waiting = filter { !$0.isImmediate }
    let condition = waiting.count == 1 ? waiting[0] : .all(waiting)
    let verdict = try await context.waiting(for: .conditions(waiting.map(\.name))) {
      try await AbandonableBody.perform(in: context) { context in
        let end = await context.end(of: ConditionEvaluation(condition: condition))
        return HeldResult(try end.getForClosure())
      }?.value
    }
    try Task.checkCancellation()
    if case .skip(let reason) = verdict { skipped = skipped ?? reason }
    if let skipped { throw skipped }
  }
}
