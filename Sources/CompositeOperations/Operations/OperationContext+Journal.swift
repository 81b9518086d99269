extension OperationContext {
  /// A key that identifies the current step of a durable run, or the part of that step to which
  /// `journaled(as:)` is applied. Nil outside a durable run.
  ///
  /// The key consists of the run, the position and name of the step, and the keys of
  /// `journaled(as:)`, such as `order-7/2.ParallelOperation/A-17`. It is the same in every attempt
  /// and in every process. Different runs, steps and parts have different keys. An operation to
  /// which `journaled(as:)` is not applied has the key of the step or part that contains it.
  ///
  /// Pass the key to services that recognize repeated requests, because a step that a crash has
  /// interrupted runs again.
  public var idempotencyKey: String? { journal?.idempotencyKey }

  /// A number that increases each time a process takes over the durable run: when the run starts,
  /// and when it continues after a wait, a crash or a retry. Nil outside a durable run.
  ///
  /// Pass the number to storage that rejects a write with a smaller number than an earlier one.
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

  /// Returns the context of one of several attempts that run at the same time.
  func forConcurrentAttempt(_ number: Int) -> OperationContext {
    guard let journal else { return self }
    return journaling(in: journal.forConcurrentAttempt(number))
  }

  /// Returns a context whose operations use another journal.
  package func journaling(in journal: (any StepJournal)?) -> OperationContext {
    var environment = surroundings
    environment.journal = journal
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }

  /// Returns a context whose operations belong to the trace of a link.
  package func linked(by link: TraceLink) -> OperationContext {
    var environment = surroundings
    environment.link = link
    return OperationContext(scope: OperationScope(within: scope, in: environment), depth: depth)
  }
}
