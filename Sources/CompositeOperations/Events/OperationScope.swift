internal import Synchronization

/// One run: its identity, what it stands in, and the point at which its end is decided.
///
/// Everything that costs hangs off the scope. A run has one if somebody looks, if its environment
/// is not the plain one, or if it was started and has a handle.
@usableFromInline final class OperationScope: Sendable {
  let place: OperationPlace
  let environment: OperationEnvironment
  /// The outermost enclosing run; nil if this is it. Only that run has a handle, and so a reason for its
  /// cancellation.
  private let outermost: OperationScope?

  private enum State: UInt8, AtomicRepresentable {
    case running
    /// Cancelled by its handle while it was running.
    case cancelled
    /// The body has returned, and how the run ends is decided.
    case ended
  }

  /// Whether observers have been notified of the cancellation.
  private enum Report: UInt8, AtomicRepresentable { case none, inProgress, made }

  /// Whether the run has finished, and whether tasks wait for that.
  private enum Completion: UInt8, AtomicRepresentable { case pending, awaited, finished }

  private let state = Atomic(State.running)
  private let cancellationReport = Atomic(Report.none)
  private let completion = Atomic(Completion.pending)
  /// How many modifiers have not been reached yet whose observers have joined this run.
  private let joined: Atomic<Int32>
  /// The first cancellation through the handle.
  private let cancellation = AtomicLazyReference<HandleCancellation>()
  private let waiters = Lock(Waiters())

  /// The permits that are held by this run or above it.
  let hold: PermitHold?

  init(
    parent: OperationScope?, name: String, environment: consuming OperationEnvironment, joined: Int,
    hold: PermitHold?, attempt: Int, share: ProgressShare
  ) {
    self.joined = Atomic(Int32(clamping: joined))
    outermost = parent.map { $0.outermost ?? $0 }
    self.environment = environment
    self.hold = hold
    // A run that nobody observes has no name to stand below.
    place = OperationPlace(
      below: parent?.isObserved == true ? parent?.place : nil, name: name, attempt: attempt,
      share: share)
  }

  /// A part of a run, which holds permits or stands in another environment. In everything else it is
  /// the run, if that has a scope.
  private init(
    within run: OperationScope?, holding hold: PermitHold?, in environment: OperationEnvironment
  ) {
    joined = Atomic(run?.joined.exchange(0, ordering: .relaxed) ?? 0)
    outermost = run.map { $0.outermost ?? $0 }
    self.environment = environment
    self.hold = hold
    place = run?.place ?? .nowhere
  }

  convenience init(within run: OperationScope?, holding hold: PermitHold) {
    self.init(within: run, holding: hold, in: run?.environment ?? OperationEnvironment())
  }

  convenience init(within run: OperationScope?, in environment: OperationEnvironment) {
    self.init(within: run, holding: run?.hold, in: environment)
  }

  var isObserved: Bool { environment.isObserved }

  /// Whether the observers of the modifier that asks see this run already. The modifiers of a run
  /// are reached one after another, the outermost first.
  func takeJoinedObservers() -> Bool {
    guard joined.load(ordering: .relaxed) > 0 else { return false }
    joined.wrappingSubtract(1, ordering: .relaxed)
    return true
  }

  // MARK: The end

  /// Whether the handle cancelled the run while it was running.
  var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  /// Whether the body has returned: what is run through it from then on is no longer its child.
  var hasEnded: Bool { state.load(ordering: .acquiring) == .ended }

  /// Cancels the run unless it has been cancelled or has ended.
  ///
  /// - Returns: Whether this call did it. The task is to be cancelled then.
  func cancel(because reason: String?) -> Bool {
    guard state.load(ordering: .acquiring) == .running else { return false }
    // The first call decides the reason. It is there before the state says that the run is cancelled.
    _ = cancellation.storeIfNil(HandleCancellation(reason: reason))
    return state.compareExchange(
      expected: .running, desired: .cancelled, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Decides the end: from here on a cancellation comes too late.
  ///
  /// - Returns: Whether the handle cancelled the run before.
  func decideEnd() -> Bool {
    state.exchange(.ended, ordering: .acquiringAndReleasing) == .cancelled
  }

  // MARK: Events

  /// - Parameters:
  ///   - step: The kind once more, if it is one of those.
  ///   - time: When it happened. What happens at once can have one moment: taking one costs more than
  ///     anything else that is done for an event.
  // Not inlined: what it makes would take room in the frames of those who call it, and so the first memory of
  // their task.
  @inline(never)
  func report(
    _ kind: consuming OperationEvent.Kind, step: OperationEvent.Step? = nil,
    at time: @autoclosure () -> EventTime = .now
  ) {
    guard isObserved else { return }
    environment.tellObservers(
      of: OperationEvent(kind: kind, step: step, place: place, time: time()))
  }

  // MARK: The report of a cancellation

  /// Notifies observers of the cancellation, once. If the calling thread is cancelling tasks, it
  /// does so after that.
  func reportCancellation() {
    guard claimReport() else { return }
    CancellationReports.make { [self] in notifyOfCancellation() }
  }

  /// The same, now and before the end of the run is reported.
  func reportCancellationBeforeEnd() {
    if claimReport() { notifyOfCancellation() }
  }

  /// Whether a thread is about to notify observers of the cancellation, or is doing so.
  var isReportingCancellation: Bool {
    cancellationReport.load(ordering: .acquiring) == .inProgress
  }

  /// Waits until observers have been notified of the cancellation.
  nonisolated(nonsending) func waitForReport() async {
    await withCheckedContinuation { waiter in
      let isMade = waiters.withLock { waiters in
        if cancellationReport.load(ordering: .acquiring) == .made { return true }
        waiters.waitsForReport(waiter)
        return false
      }
      if isMade { waiter.resume() }
    }
  }

  private func claimReport() -> Bool {
    cancellationReport.compareExchange(
      expected: .none, desired: .inProgress, ordering: .acquiringAndReleasing
    ).exchanged
  }

  private func notifyOfCancellation() {
    report(.cancellationRequested(reason: cancellationReason))
    let waiter = waiters.withLock { waiters in
      cancellationReport.store(.made, ordering: .releasing)
      return waiters.reportWasMade()
    }
    waiter?.resume()
  }

  private var cancellationReason: String? {
    (outermost ?? self).cancellation.load()?.reason
  }

  // MARK: Waiting for the end

  /// The run has ended and its observers have been notified.
  func finished() {
    let before = completion.exchange(.finished, ordering: .acquiringAndReleasing)
    guard before == .awaited else { return }
    for waiter in waiters.withLock({ $0.finished() }) { waiter.resume() }
  }

  /// Waits until the run has finished or the calling task is cancelled.
  ///
  /// - Returns: Whether the run has finished.
  nonisolated(nonsending) func waitUntilFinished() async -> Bool {
    if completion.load(ordering: .acquiring) == .finished { return true }
    let number = waiters.withLock { $0.registerForEnd() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        waiters.withLock { waiters -> CancellableWaiters.Waiter? in
          if let waiter = waiters.waitsForEnd(waiter, as: number) { return waiter }
          // A run that finishes after this exchange finds the waiter.
          let before = completion.compareExchange(
            expected: .pending, desired: .awaited, ordering: .acquiringAndReleasing)
          return before.original == .finished ? waiters.cancelled(number) : nil
        }?.resume()
      }
    } onCancel: {
      waiters.withLock { $0.cancelled(number) }?.resume()
    }
    return completion.load(ordering: .acquiring) == .finished
  }
}

/// A cancellation through the handle of a run.
private final class HandleCancellation: Sendable {
  let reason: String?

  init(reason: String?) { self.reason = reason }
}
