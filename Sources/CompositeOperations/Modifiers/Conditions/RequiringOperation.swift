extension ComposableOperation {
  /// Requires conditions to be met before the operation begins.
  ///
  /// ```swift
  /// let isOnline = Condition("is online") { await network.isReachable }
  /// let save = SaveIssues(issues)
  ///   .requiring(isOnline, .confirmed("Save \(issues.count) issues?") { await ask($0) })
  /// ```
  ///
  /// If a condition is not met, the operation is skipped: its run ends as cancelled, and the event
  /// of its end has a ``Skipped`` with the reason. If a condition fails, the run ends in the error
  /// of the condition. Precedence: failed, then not met, then met.
  ///
  /// Closures that do not suspend are called first, without a task. Then the other conditions,
  /// including those of adjacent `requiring` modifiers, are evaluated concurrently, each as a child
  /// run. A condition that is listed several times is evaluated once. All are evaluated, unless one
  /// fails. To ask the user only after the other conditions are met, ask in an inner `requiring`
  /// that is not adjacent to the outer one.
  ///
  /// The evaluation ends as soon as the verdict is certain. A cancellation ends the run
  /// immediately. A condition that ignores its cancellation is then abandoned, and
  /// ``OperationEvent/Kind/abandonedBodyEnded(_:)`` reports its end.
  ///
  /// - Parameter conditions: The conditions that must be met.
  @inlinable public func requiring(_ conditions: Condition...) -> some ComposableOperation<Success>
  {
    RequiringOperation(base: self, conditions: conditions)
  }

  /// Requires a list of conditions to be met before the operation begins.
  ///
  /// Behaves like ``requiring(_:)-(Condition...)``.
  ///
  /// - Parameter conditions: The conditions that must be met.
  @inlinable public func requiring(_ conditions: [Condition]) -> some ComposableOperation<Success> {
    RequiringOperation(base: self, conditions: conditions)
  }
}

/// An operation whose conditions an outer modifier may evaluate together with its own.
@usableFromInline protocol ConditionRequiring<Success>: ComposableOperation {
  var conditions: [Condition] { get }

  /// Performs the operation, whose conditions an outer modifier has evaluated.
  nonisolated(nonsending) func performEvaluated(
    in context: OperationContext
  ) async throws -> HeldResult<Success>
}

@usableFromInline struct RequiringOperation<Base: ComposableOperation>: TransparentOperation {
  @usableFromInline let base: Base
  @usableFromInline let conditions: [Condition]
  /// The base, if it requires conditions too.
  @usableFromInline let below: (any ConditionRequiring<Base.Success>)?
  /// The plan of the evaluation; nil if all conditions are closures that do not suspend.
  @usableFromInline let plan: ConditionPlan?
  /// The conditions if there is no plan.
  @usableFromInline let immediate: [ImmediateCondition]

  @usableFromInline init(base: Base, conditions: [Condition]) {
    self.base = base
    below = base as? any ConditionRequiring<Base.Success>
    self.conditions = ((below?.conditions ?? []) + conditions).distinct
    let immediate = self.conditions.compactMap(ImmediateCondition.init)
    let areImmediate = immediate.count == self.conditions.count
    plan = areImmediate ? nil : ConditionPlan(self.conditions)
    self.immediate = areImmediate ? immediate : []
  }

  @inlinable nonisolated(nonsending) func performHeld(
    in context: OperationContext
  ) async throws -> HeldResult<Base.Success> {
    if let plan {
      try await plan.evaluate(in: context)
    } else {
      try immediate.evaluate()
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

/// A condition that is a closure which does not suspend.
// A copy of a whole condition takes longer than a call of its closure.
@usableFromInline struct ImmediateCondition: Sendable {
  fileprivate let name: String
  fileprivate let isMet: @Sendable () throws -> Bool

  fileprivate init?(_ condition: Condition) {
    guard case .immediate(let isMet) = condition.kind else { return nil }
    name = condition.name
    self.isMet = isMet
  }
}

extension [ImmediateCondition] {
  /// Evaluates the conditions.
  ///
  /// - Throws: The first failure, or else a ``Skipped`` if a condition is not met.
  @usableFromInline func evaluate() throws {
    var skipped: Skipped?
    let conditions = span
    for index in conditions.indices {
      switch Verdict(asking: conditions[index].isMet, of: conditions[index].name) {
      case .proceed: break
      case .skip(let reason): skipped = skipped ?? reason
      case .fail(let error): throw error
      }
    }
    // A closure may have cancelled the run.
    try Task.checkCancellation()
    if let skipped { throw skipped }
  }
}

extension ConditionPlan {
  /// Evaluates the conditions: first the closures that do not suspend, then the others
  /// concurrently.
  ///
  /// - Throws: The failure that takes precedence, or else a ``Skipped`` if a condition is not met,
  ///   or `CancellationError` as soon as the run is cancelled.
  @usableFromInline nonisolated(nonsending) func evaluate(
    in context: OperationContext
  ) async throws {
    var verdicts = ConditionVerdicts(self)
    for index in immediate where verdicts.matters(index) {
      guard case .immediate(let isMet) = nodes[index].kind else { continue }
      _ = verdicts.answered(index, Verdict(asking: isMet, of: nodes[index].name))
    }
    if !verdicts.isDecided, !Task.isCancelled {
      verdicts = await context.waiting(for: .conditions(verdicts.undecidedNames)) {
        await ConditionEvaluation.verdicts(of: self, after: verdicts, in: context)
      }
    }
    guard let (verdict, unseen) = verdicts.end else {
      for error in verdicts.allErrors { error.discardCarriedValues() }
      throw CancellationError()
    }
    for error in unseen { error.discardCarriedValues() }
    if case .fail(let error) = verdict { throw error }
    try Task.checkCancellation()
    if case .skip(let reason) = verdict { throw reason }
  }
}
