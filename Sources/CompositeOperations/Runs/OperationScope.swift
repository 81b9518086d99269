internal import Synchronization
internal import ThreadSupport

/// The identity, the environment and the state of one run.
///
/// A run has a scope only if it needs one: if it has observers, an environment that is not plain,
/// or a handle. Other runs do not pay for it.
// Unchecked, because `renew` changes the identity and the place while the caller has the only
// reference. Their exclusivity is not checked at run time: each check takes 90 instructions.
@safe @usableFromInline final class OperationScope: @unchecked Sendable {
  var id: OperationID { unsafe storedID }
  @exclusivity(unchecked) private var storedID: OperationID
  /// The place, if the run has observers.
  @exclusivity(unchecked) private var observedPlace: OperationPlace?
  let environment: OperationEnvironment
  /// The outermost enclosing run; nil if this is it. Only that run has a handle, and therefore a
  /// cancellation reason.
  private let outermost: OperationScope?

  private enum State: UInt8, AtomicRepresentable {
    case running
    /// Cancelled by its handle while it was running.
    case cancelled
    /// The body has returned, and the outcome is decided.
    case ended
  }

  /// Whether observers have been notified of the cancellation.
  private enum Report: UInt8, AtomicRepresentable { case none, inProgress, made }

  /// Whether the run has finished, and whether tasks wait for that.
  private enum Finish: UInt8, AtomicRepresentable { case pending, awaited, finished }

  private let state = Atomic(State.running)
  private let cancellationReport = Atomic(Report.none)
  private let finish = Atomic(Finish.pending)
  /// The number of modifiers that have not run yet and whose observers already observe this run.
  private let joined: Atomic<Int32>
  private let storedRareState = LazyReference<RareState>()

  /// What this run and the enclosing runs hold.
  let hold: RunHold?
  /// The deadline of the innermost timeout around this run; nil if there is none.
  let deadline: EnclosingDeadline?

  init(
    parent: OperationScope?, name: String, environment: consuming OperationEnvironment, joined: Int,
    hold: RunHold?, deadline: EnclosingDeadline? = nil, attempt: Int, share: ProgressShare
  ) {
    self.joined = Atomic(Int32(clamping: joined))
    outermost = parent.map { $0.outermost ?? $0 }
    self.environment = environment
    self.hold = hold
    self.deadline = deadline ?? parent?.deadline
    let id = OperationID()
    unsafe storedID = id
    // A parent without observers has no name.
    unsafe observedPlace =
      self.environment.isObserved
      ? OperationPlace(
        of: id, below: parent?.isObserved == true ? parent?.place : nil, name: name,
        attempt: attempt, share: share, link: self.environment.link) : nil
  }

  /// Creates a scope for a part of a run that holds permits, has a deadline or has another
  /// environment. Its identity is the run's, if the run has a scope.
  private init(
    within run: OperationScope?, holding hold: RunHold?, until deadline: EnclosingDeadline?,
    in environment: OperationEnvironment
  ) {
    joined = Atomic(run?.joined.exchange(0, ordering: .relaxed) ?? 0)
    outermost = run.map { $0.outermost ?? $0 }
    self.environment = environment
    self.hold = hold
    self.deadline = deadline
    unsafe storedID = run?.id ?? OperationID()
    unsafe observedPlace = run?.observedPlace
  }

  convenience init(within run: OperationScope?, holding hold: RunHold) {
    self.init(
      within: run, holding: hold, until: run?.deadline,
      in: run?.environment ?? OperationEnvironment())
  }

  convenience init(within run: OperationScope?, until deadline: EnclosingDeadline) {
    self.init(
      within: run, holding: run?.hold, until: deadline,
      in: run?.environment ?? OperationEnvironment())
  }

  convenience init(within run: OperationScope?, in environment: OperationEnvironment) {
    self.init(within: run, holding: run?.hold, until: run?.deadline, in: environment)
  }

  /// Takes the scope of a child that has ended, as the scope of another child of the same run.
  ///
  /// Saves two allocations for each child. It also keeps processors from competing for the reference
  /// counts of the objects that all children share.
  ///
  /// - Parameters:
  ///   - scope: The scope; nil afterwards, if it has been taken.
  ///   - parent: The parent of both children.
  ///   - name: The name of the other operation, which is not a modifier.
  /// - Returns: Nil if there is no scope, or if another task may use it.
  static func renew(
    _ scope: inout OperationScope?, below parent: OperationScope, name: @autoclosure () -> String
  ) -> OperationScope? {
    guard isKnownUniquelyReferenced(&scope), scope?.isRenewable(below: parent) == true,
      let renewed = scope.take()
    else { return nil }
    let id = OperationID()
    unsafe renewed.storedID = id
    unsafe OperationPlace.renew(&renewed.observedPlace, of: id, name: name())
    renewed.joined.store(0, ordering: .relaxed)
    renewed.state.store(.running, ordering: .relaxed)
    renewed.cancellationReport.store(.none, ordering: .relaxed)
    renewed.finish.store(.pending, ordering: .relaxed)
    return renewed
  }

  private func isRenewable(below parent: OperationScope) -> Bool {
    environment.isSame(as: parent.environment) && storedRareState.load() == nil
  }

  /// The place of the run, which has no name if the run has no observers.
  var place: OperationPlace { unsafe observedPlace ?? OperationPlace(of: id, below: nil, name: "") }

  @usableFromInline var isObserved: Bool { environment.isObserved }
  @usableFromInline var executor: (any TaskExecutor)? { environment.executor }

  private var rareState: RareState {
    storedRareState.load() ?? storedRareState.storeIfNil(RareState())
  }

  /// Returns whether the observers of the calling modifier already observe this run. The modifiers
  /// of a run call this one after another, the outermost first.
  func takeJoinedObservers() -> Bool {
    guard joined.load(ordering: .relaxed) > 0 else { return false }
    joined.wrappingSubtract(1, ordering: .relaxed)
    return true
  }

  // MARK: The end

  /// Whether the handle cancelled the run while it was running.
  var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  /// Whether the body has returned. Operations that it runs after that are not its children.
  var hasEnded: Bool { state.load(ordering: .acquiring) == .ended }

  /// Cancels the run unless it has been cancelled or has ended.
  ///
  /// - Returns: Whether this call cancelled the run. The caller then cancels the task.
  func cancel(because reason: String?) -> Bool {
    guard state.load(ordering: .acquiring) == .running else { return false }
    // The first call sets the reason, before the state becomes `cancelled`.
    rareState.withLock { $0.cancelled(because: reason) }
    return state.compareExchange(
      expected: .running, desired: .cancelled, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Decides the outcome. A later cancellation has no effect.
  ///
  /// - Returns: Whether the handle cancelled the run before.
  @usableFromInline func markEnded() -> Bool {
    state.exchange(.ended, ordering: .acquiringAndReleasing) == .cancelled
  }

  /// Begins the run, or ends it if it has been cancelled (O2).
  ///
  /// - Parameter isTaskCancelled: Evaluated again after observers were notified, because they may
  ///   cancel the run.
  /// - Returns: Whether the body may begin.
  func begin(isTaskCancelled: @autoclosure () -> Bool, at time: EventTime? = nil) -> Bool {
    guard beginUnobserved(isTaskCancelled: isTaskCancelled()) else { return false }
    guard isObserved else { return true }
    report(.started, step: .started, at: time ?? .now)
    if isTaskCancelled() || isCancelled {
      _ = markEnded()
      return false
    }
    return true
  }

  /// Begins the run without an event, or ends it if it has been cancelled (O2).
  ///
  /// - Returns: Whether the body may begin.
  @usableFromInline func beginUnobserved(isTaskCancelled: Bool) -> Bool {
    if !isTaskCancelled, !isCancelled { return true }
    _ = markEnded()
    return false
  }

  // MARK: Events

  /// Notifies observers of an event.
  ///
  /// - Parameters:
  ///   - step: The same as `kind`, if it is one of these.
  ///   - time: When it happened. Simultaneous events can share one reading of the clock, which
  ///     costs more than everything else that is done for an event.
  // Not inlined: its temporaries would enlarge the frames of its callers, and with them the first
  // allocation of their tasks.
  @inline(never)
  func report(
    _ kind: consuming OperationEvent.Kind, step: OperationEvent.Step? = nil,
    at time: @autoclosure () -> EventTime = .now
  ) {
    guard isObserved else { return }
    environment.tellObservers(
      of: OperationEvent(kind: kind, step: step, place: place, time: time()))
  }

  /// Notifies observers of the end. Call it after a cancellation has been reported.
  ///
  /// - Parameter value: Returns the value of the body. Called only if the body returned one.
  func reportEnd(_ completion: Completion<Void>, value: () -> any Sendable) {
    // The handle cancels the run before it cancels the task, so this may run in between.
    if completion.wasCancelled { reportCancellationBeforeEnd() }
    report(
      .ended(completion.outcome(value), lateOutcome: completion.lateOutcome(value)),
      step: completion.isResult ? .endedInResult : nil)
  }

  /// Performs a body and reports that the run waits meanwhile.
  nonisolated(nonsending) func waiting<Value>(
    for wait: OperationEvent.Wait, _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    report(.waitingBegan(for: wait))
    defer { report(.waitingEnded(for: wait)) }
    return try await body()
  }

  // MARK: The report of a cancellation

  /// Notifies observers of the cancellation, once. If the calling thread is cancelling tasks, this
  /// is deferred until it has cancelled them.
  func reportCancellation() {
    guard claimReport() else { return }
    CancellationReports.make { [self] in notifyOfCancellation() }
  }

  /// Notifies observers of the cancellation now, unless another call has begun to. Called before
  /// the end of the run is reported.
  func reportCancellationBeforeEnd() {
    if claimReport() { notifyOfCancellation() }
  }

  /// Whether a thread is notifying observers of the cancellation, or is about to.
  var isReportingCancellation: Bool {
    cancellationReport.load(ordering: .acquiring) == .inProgress
  }

  /// Waits until observers have been notified of the cancellation.
  nonisolated(nonsending) func waitForReport() async {
    await withCheckedContinuation { waiter in
      let isMade = rareState.withLock { state in
        if cancellationReport.load(ordering: .acquiring) == .made { return true }
        state.waitsForReport(waiter)
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
    let waiter = rareState.withLock { state in
      cancellationReport.store(.made, ordering: .releasing)
      return state.reportWasMade()
    }
    waiter?.resume()
  }

  private var cancellationReason: String? {
    (outermost ?? self).storedRareState.load()?.withLock { $0.cancellation?.reason }
  }

  // MARK: Waiting for the end

  /// Resumes the tasks that wait for the end. Called when the observers of the run have been
  /// notified of it.
  @usableFromInline func finished() {
    let before = finish.exchange(.finished, ordering: .acquiringAndReleasing)
    guard before == .awaited else { return }
    for waiter in rareState.withLock({ $0.finished() }) { waiter.resume() }
  }

  /// Waits until the run has finished or the calling task is cancelled.
  ///
  /// - Returns: Whether the run has finished.
  nonisolated(nonsending) func waitUntilFinished() async -> Bool {
    if finish.load(ordering: .acquiring) == .finished { return true }
    let number = rareState.withLock { $0.registerForEnd() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        rareState.withLock { state -> CancellableWaiters.Waiter? in
          if let waiter = state.waitsForEnd(waiter, as: number) { return waiter }
          // A run that finishes after this exchange finds the waiter.
          let before = finish.compareExchange(
            expected: .pending, desired: .awaited, ordering: .acquiringAndReleasing)
          return before.original == .finished ? state.cancelled(number) : nil
        }?.resume()
      }
    } onCancel: {
      rareState.withLock { $0.cancelled(number) }?.resume()
    }
    return finish.load(ordering: .acquiring) == .finished
  }
}

/// The resources that a run holds until its end, such as permits. The runs below it inherit the
/// reference.
// Unchecked, because a class with subclasses cannot be checked: it has no stored properties.
package class RunHold: @unchecked Sendable {
  package init() {}
}
