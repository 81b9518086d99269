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
  private let reasons = Lock(Reasons())

  private struct Reasons {
    /// Why this run is cancelled, if whoever cancelled it said so.
    var own: String?
    /// Why this run cancels what it runs.
    var forChildren: String?
  }

  init(parent: OperationScope? = nil, name: String, environment: OperationEnvironment) {
    self.parent = parent
    self.environment = environment
    place = OperationPlace(below: parent?.place, name: name)
  }

  var isObserved: Bool { !environment.observers.isEmpty }

  // MARK: The end

  /// Whether the handle cancelled the run while it was running.
  var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

  /// Whether the body has returned: what is run through it from then on is no longer its child.
  var hasEnded: Bool { state.load(ordering: .acquiring) == .ended }

  /// Cancels the run unless it has been cancelled or has ended.
  ///
  /// - Returns: Whether this call did it. The task is to be cancelled then.
  func cancel(because reason: String?) -> Bool {
    if let reason { reasons.withLock { $0.own = $0.own ?? reason } }
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

  func report(_ kind: OperationEvent.Kind) {
    let event = OperationEvent(kind: kind, place: place)
    for observer in environment.observers { observer.observe(event) }
  }

  /// Tells once that the run was asked to stop.
  func reportCancellation() {
    guard !hasReportedCancellation.exchange(true, ordering: .relaxed) else { return }
    report(.cancellationRequested(reason: cancellationReason))
  }

  /// Notes why the children of the run are about to be cancelled.
  func cancelsChildren(because reason: String) {
    reasons.withLock { $0.forChildren = $0.forChildren ?? reason }
  }

  private var cancellationReason: String? {
    if let own = reasons.withLock({ $0.own }) { return own }
    var scope = parent
    while let above = scope {
      if let reason = above.reasons.withLock({ $0.own ?? $0.forChildren }) { return reason }
      scope = above.parent
    }
    return nil
  }
}
