extension OperationContext {
  /// A key that identifies this part of a durable run: equal in every attempt and process, and
  /// different for every run, step and keyed part. Nil outside a durable run.
  ///
  /// It consists of the run, the position and name of the step, and the keys of `journaled(as:)`,
  /// such as `order-7/2.ParallelOperation/A-17`. Parts of a step without a key have the key of the
  /// step.
  ///
  /// Pass it to services that recognize repeated requests, because a step that was interrupted by a
  /// crash runs again.
  public var idempotencyKey: String? { journal?.idempotencyKey }

  /// A number that increases each time a process claims the durable run: after its start, a wait, a
  /// crash or a retry. Nil outside a durable run.
  ///
  /// Pass it to storage that rejects writes with a smaller number than it has seen.
  public var fencingToken: Int? { journal?.fencingToken }

  /// Whether the run is not observed, has the default environment, and so has no journal.
  @inlinable package var isPlain: Bool { scope == nil }

  /// The journal of the durable run that this run is a part of; nil if there is none, or if this
  /// run has ended.
  package var journal: (any StepJournal)? {
    guard let scope, !scope.hasEnded else { return nil }
    return scope.environment.journal
  }

  /// Returns the context of an attempt after the first one.
  func forAttempt(_ number: Int) -> OperationContext {
    guard let journal else { return self }
    return journaling(in: journal.forAttempt(number))
  }

  /// Returns a context whose operations use another journal.
  package func journaling(in journal: (any StepJournal)?) -> OperationContext {
    var environment = surroundings
    environment.journal = journal
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }
}
