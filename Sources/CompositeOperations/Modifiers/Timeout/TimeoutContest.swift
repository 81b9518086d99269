internal import Synchronization
internal import ThreadSupport

/// Decides whether a body ends before its deadline.
///
/// The body runs in a task of its own, which another thread cancels at the deadline. It stores its
/// value in a slot, so this class does not depend on the type of the value.
@safe @usableFromInline final class TimeoutContest: EnclosingDeadline, @unchecked Sendable {
  /// Ends the other task of the group if a clock of the user measures the time.
  @usableFromInline struct Over: Error {
    @usableFromInline init() {}
  }

  /// How the run ends.
  @usableFromInline enum End: Sendable {
    /// In the value in the slot, or in an error of the body.
    case value(Cleanup?, wasCancelled: Bool)
    case error(any Error, wasCancelled: Bool)
    /// In a timeout, or in the error of the clock if there is one. A value in the slot has been
    /// disposed of.
    case tooLate(hasValue: Bool, clockError: (any Error)?)
  }

  private enum Body {
    case value(Cleanup?, wasCancelled: Bool)
    case error(any Error, wasCancelled: Bool)
  }

  private enum State: UInt8, AtomicRepresentable {
    /// The body has not begun.
    case pending
    case running
    /// The deadline has been reached. The body has not been cancelled.
    case expired
    /// A thread cancels the body.
    case cancelling
    /// A thread cancels the body, and the end of the body waits for that.
    case awaited
    /// The deadline came first, and nothing is left to do.
    case tooLate
    /// The end of the body came first.
    case inTime
  }

  private let state = Atomic(State.pending)
  /// The body's task: the single word of an `UnsafeCurrentTask`, which ``bodyBegins()`` checks.
  private let task = Atomic<UInt>(0)

  // Sendable: the waiter is written before the state is `awaited`, and read by the thread that ends
  // this state. Each of the other two is written by one task, and read after the group of all tasks
  // has ended. The body's task is used while the state is `cancelling`, and does not end before
  // that state has ended. So no two accesses overlap, and exclusivity checks are unnecessary.
  @exclusivity(unchecked) private var body: Body?
  @exclusivity(unchecked) private var clockError: (any Error)?
  @exclusivity(unchecked) private var waiter: TaskWaiter?

  /// - Parameters:
  ///   - alarm: The deadline on a clock of the user; nil for the process's timer, which
  ///     ``start(_:)`` then sets.
  ///   - context: The context of the run.
  @usableFromInline init(alarm: (any ClockAlarm)?, in context: OperationContext) {
    super.init(alarm: alarm, below: context.deadline)
  }

  /// - Parameter nanoseconds: How long the body may take from now, by the process's timer.
  @usableFromInline func start(_ nanoseconds: Int64) {
    expires(at: EventTime.now.advanced(byNanoseconds: nanoseconds))
    unsafe DeadlineTimer.shared.add(self, at: time)
  }

  private func exchange(_ expected: State, for desired: State) -> Bool {
    state.compareExchange(
      expected: expected, desired: desired, ordering: .acquiringAndReleasing
    ).exchanged
  }

  // MARK: The body's task

  /// - Returns: Whether the body may begin: false if its time is over.
  @usableFromInline func bodyBegins() -> Bool {
    precondition(unsafe MemoryLayout<UnsafeCurrentTask>.size == MemoryLayout<UInt>.size)
    task.store(unsafe unsafeBitCast(UnsafeCurrentTask.own, to: UInt.self), ordering: .relaxed)
    return exchange(.pending, for: .running)
  }

  /// - Parameter wasCancelled: Whether the body's task is cancelled: by the body itself, with the run,
  ///   or by the deadline, which then decides.
  @usableFromInline func bodyEnded(_ cleanup: Cleanup?, wasCancelled: Bool) {
    unsafe body = .value(cleanup, wasCancelled: wasCancelled)
    decide()
  }

  @usableFromInline func bodyFailed(_ error: any Error, wasCancelled: Bool) {
    unsafe body = .error(error, wasCancelled: wasCancelled)
    decide()
  }

  private func decide() {
    // The timer may be late, and a sleeping task may not have got a thread.
    let isTooLate = unsafe alarm?.hasPassed ?? (EventTime.now.nanoseconds >= time)
    if exchange(.running, for: isTooLate ? .tooLate : .inTime) {
      if alarm == nil { DeadlineTimer.shared.remove(self) }
      return
    }
    // The handler that would cancel the body then does nothing.
    _ = exchange(.expired, for: .tooLate)
  }

  /// Whether the body's task may not end yet, because a thread is cancelling it.
  @usableFromInline var isBeingCancelled: Bool {
    state.load(ordering: .acquiring) == .cancelling
  }

  /// Waits until the body's task has been cancelled.
  @usableFromInline nonisolated(nonsending) func waitUntilCancelled() async {
    await TaskWaiter.wait { waiter in
      unsafe self.waiter = waiter
      if !exchange(.cancelling, for: .awaited) { waiter.resume() }
    }
  }

  // MARK: The deadline

  override func reached() {
    if exchange(.pending, for: .tooLate) { return }
    // The body's cancellation handlers are the user's code.
    if exchange(.running, for: .expired) { HandlerThreads.shared.run { self.cancelBody() } }
  }

  override var holdsUserValues: Bool { true }

  private func cancelBody() {
    guard exchange(.expired, for: .cancelling) else { return }
    CancellationReports.deferring {
      unsafe unsafeBitCast(task.load(ordering: .relaxed), to: UnsafeCurrentTask.self).cancel()
    }
    if state.exchange(.tooLate, ordering: .acquiringAndReleasing) == .awaited {
      unsafe waiter?.resume()
    }
  }

  /// Sleeps until the deadline on a clock of the user.
  ///
  /// - Throws: ``Over`` if the body has to be cancelled, because its time is over or because the
  ///   clock failed.
  nonisolated(nonsending) func sleep() async throws {
    guard let alarm else { return }
    var failure: (any Error)?
    do { try await alarm.sleep() } catch { failure = error }
    // The body has ended, or the run is cancelled.
    if Task.isCancelled { return }
    unsafe clockError = failure
    // In this order: a body that is pending may begin in between.
    if exchange(.pending, for: .tooLate) || exchange(.running, for: .tooLate) { throw Over() }
  }

  // MARK: The end of the run

  /// The end of the run, which does not count if the run was cancelled (O3). Disposes of a late
  /// value or error, so read this only once.
  @usableFromInline var end: End {
    let isInTime = state.load(ordering: .acquiring) == .inTime
    // A kept context keeps this object, and the value may contain the context.
    defer { unsafe body = nil }
    switch unsafe body {
    case .value(let cleanup, let wasCancelled):
      if isInTime { return .value(cleanup, wasCancelled: wasCancelled) }
      cleanup?()
      return unsafe .tooLate(hasValue: true, clockError: clockError)
    case .error(let error, let wasCancelled):
      if isInTime { return .error(error, wasCancelled: wasCancelled) }
      error.discardCarriedValues()
      return unsafe .tooLate(hasValue: false, clockError: clockError)
    case nil: return unsafe .tooLate(hasValue: false, clockError: clockError)
    }
  }
}
