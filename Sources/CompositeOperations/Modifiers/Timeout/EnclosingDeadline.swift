internal import Synchronization
internal import ThreadSupport

/// The deadline of a timeout, with the deadlines of the timeouts around it.
///
/// The scope of the part of a run that the timeout limits refers to it, and so do the scopes below.
@usableFromInline class EnclosingDeadline: Deadline, @unchecked Sendable {
  // Sendable: the time is written before the operation begins, and constant after that.
  /// The deadline on a clock of the user; nil for the process's timer.
  final let alarm: (any ClockAlarm)?
  /// The deadline on the process's timer; `Int64.max` for none.
  @exclusivity(unchecked) private(set) final var time = Int64.max
  /// The deadline of the next timeout around this one.
  private let outer: EnclosingDeadline?
  private let over = Atomic(false)
  // Kept contexts may hold a long chain.
  private let release = NestedRelease()

  /// - Parameter outer: The deadline of the next timeout around this one.
  init(alarm: (any ClockAlarm)?, below outer: EnclosingDeadline?) {
    self.alarm = alarm
    self.outer = outer
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
  final func expires(at time: Int64) { unsafe self.time = time }

  /// Whether the timeout has ended. Code that it limited, such as an abandoned body, may still run.
  final var isOver: Bool { over.load(ordering: .acquiring) }

  /// Ends the timeout, after which its deadline and those around it do not count.
  final func end() { over.store(true, ordering: .releasing) }

  /// The time until the nearest deadline; zero if it has passed, nil if all timeouts are over. Each
  /// deadline is read on its own clock.
  final var timeLeft: Duration? {
    var least: Duration?
    var earliest: Int64?
    // A loop: timeouts nest to any depth. No timeout limits what an inner one has abandoned.
    var next: EnclosingDeadline? = self
    while let deadline = next, !deadline.isOver {
      if let left = deadline.alarm?.timeLeft {
        least = min(least ?? left, left)
      } else {
        earliest = unsafe min(earliest ?? .max, deadline.time)
      }
      next = deadline.outer
    }
    if let earliest {
      let left = Duration.nanoseconds(earliest - EventTime.now.nanoseconds)
      least = min(least ?? left, left)
    }
    return least.map { max(.zero, $0) }
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
  /// none, because its callers have different ones. A timeout that has ended does not count, nor do
  /// those around it: for a body that it has abandoned, or in a context that was kept. Such a body is
  /// cancelled, so check that first.
  public var timeLeft: Duration? { deadline?.timeLeft }

  /// The deadline of the innermost timeout; nil if there is none or it has ended.
  var deadline: EnclosingDeadline? {
    guard let deadline = scope?.deadline, !deadline.isOver else { return nil }
    return deadline
  }

  /// Returns the context for the part of the run that a timeout limits. ``timeoutEnded()`` must
  /// follow.
  @usableFromInline func limited(by deadline: EnclosingDeadline) -> OperationContext {
    OperationContext(scope: OperationScope(within: scope, until: deadline), depth: depth)
  }

  /// Ends the part of a run that a timeout limits. The deadline does not count any more, in this
  /// context and in the contexts of everything that began below it.
  @usableFromInline func timeoutEnded() {
    _ = scope?.markEnded()
    scope?.deadline?.end()
  }
}
