internal import Synchronization

/// One run: its identity, what it stands in, and the point at which its end is decided.
///
/// Everything that costs hangs off the scope. A run has one if somebody looks, if its environment
/// is not the plain one, or if it was started and has a handle.
@usableFromInline final class OperationScope: Sendable {
  let place: OperationPlace
  let environment: OperationEnvironment
  private let parent: OperationScope?

  private enum State: UInt8, AtomicRepresentable {
    case running
    /// Cancelled by its handle while it was running.
    case cancelled
    /// The body has returned, and how the run ends is decided.
    case ended
  }

  private let state = Atomic(State.running)
  private let hasReportedCancellation = Atomic(false)
  /// Why the run is cancelled, if whoever cancelled it said so.
  private let reason = Lock<String?>(nil)

  /// How many modifiers have not been reached yet whose observers have joined this run.
  private let joined: Atomic<Int>

  /// The permits that are held by this run or above it.
  let hold: PermitHold?

  init(
    parent: OperationScope?, name: String, environment: consuming OperationEnvironment, joined: Int,
    hold: PermitHold?, attempt: Int, share: ProgressShare
  ) {
    self.joined = Atomic(joined)
    self.parent = parent
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
    parent = run
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
    if let reason { self.reason.withLock { $0 = $0 ?? reason } }
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

  /// Tells once that the run was asked to stop.
  func reportCancellation() {
    guard !hasReportedCancellation.exchange(true, ordering: .relaxed) else { return }
    report(.cancellationRequested(reason: cancellationReason))
  }

  private var cancellationReason: String? {
    if let own = reason.withLock(\.self) { return own }
    var scope = parent
    while let above = scope {
      if let reason = above.reason.withLock(\.self) { return reason }
      scope = above.parent
    }
    return nil
  }
}
