internal import ThreadSupport

/// The deadline of a timeout, with those of the timeouts around it.
///
/// The scope of the part of a run that the timeout limits refers to it, and so do the scopes below.
@usableFromInline class EnclosingDeadline: Deadline, @unchecked Sendable {
  // Sendable: written before the operation begins, and constant after that.
  /// The deadline on a clock of the user; nil for the process's timer.
  final let alarm: (any ClockAlarm)?
  /// The earliest of this deadline and those around it on the process's timer; `Int64.max` for none.
  @exclusivity(unchecked) private var time: Int64
  /// The next deadline around this one on a clock of the user.
  private let outer: EnclosingDeadline?
  // Kept contexts may hold a long chain.
  private let release = NestedRelease()

  /// - Parameter outer: The deadline of the next timeout around this one.
  init(alarm: (any ClockAlarm)?, below outer: EnclosingDeadline?) {
    self.alarm = alarm
    unsafe time = outer?.time ?? .max
    self.outer = outer?.alarm == nil ? outer?.outer : outer
  }

  /// Creates the deadline of a time limit that begins now.
  convenience init(of limit: TimeLimit, in context: OperationContext) {
    self.init(alarm: limit.alarm, below: context.deadline)
    if limit.alarm == nil {
      expires(at: EventTime.now.advanced(byNanoseconds: limit.nanoseconds))
    }
  }

  deinit { NestedRelease.begin(outer) }

  /// Sets the deadline on the process's timer. To be called before the operation begins.
  final func expires(at time: Int64) { unsafe self.time = min(self.time, time) }

  /// The time until the nearest deadline; zero if it has passed. Each one is read on its own clock.
  final var timeLeft: Duration {
    var least: Duration?
    if unsafe time < .max { least = .nanoseconds(unsafe time - EventTime.now.nanoseconds) }
    // A loop: timeouts nest to any depth.
    var next: EnclosingDeadline? = self
    while let deadline = next {
      if let left = deadline.alarm?.timeLeft { least = min(least ?? left, left) }
      next = deadline.outer
    }
    // Without a deadline that can be represented, there is a time limit of more than a century.
    return max(.zero, least ?? .nanoseconds(Int64.max))
  }
}

extension OperationContext {
  /// The time until the nearest deadline of the timeouts around the operation. Nil if there is none,
  /// and zero if it has passed.
  ///
  /// Use it to pass a time limit to something that has to know it, such as a request to a server:
  ///
  /// ```swift
  /// let fetch = SimpleOperation.withContext { context in
  ///   try await api.issues(within: context.timeLeft ?? .seconds(30))
  /// }
  /// ```
  ///
  /// Deadlines come from ``ComposableOperation/timingOut(after:_:)`` and
  /// ``ComposableOperation/timingOut(until:on:_:)``, in both modes, around the operation and around
  /// all operations that it is a child of. Each deadline is read on its own clock, and the least
  /// duration counts. An operation that is submitted to a pool has the deadlines of its submitter if
  /// it is submitted by ``ComposableOperation/submitted(to:priority:isBarrier:)``. A shared run has
  /// none, because its callers have different ones. A context that is kept beyond its run has none.
  public var timeLeft: Duration? { deadline?.timeLeft }

  /// The deadline of the innermost timeout; nil if there is none or the run has ended.
  var deadline: EnclosingDeadline? {
    guard let deadline = scope?.deadline, scope?.hasEnded == false else { return nil }
    return deadline
  }

  /// Returns the context for the part of the run that a timeout limits. ``timeoutEnded()`` must
  /// follow.
  @usableFromInline func limited(by deadline: EnclosingDeadline) -> OperationContext {
    OperationContext(scope: OperationScope(within: scope, until: deadline), depth: depth)
  }

  /// Ends the part of a run that a timeout limits: its context has no deadline if it is kept.
  @usableFromInline func timeoutEnded() { _ = scope?.markEnded() }
}
