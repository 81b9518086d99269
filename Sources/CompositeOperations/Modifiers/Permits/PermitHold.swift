internal import Synchronization

/// The permits that one run holds, linked to the holds of the enclosing runs.
// Unchecked, because its superclass is. Only the task of the run uses the variables.
package final class PermitHold: RunHold, @unchecked Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case idle
    /// A request waits below it, so the ledger counts it as blocked.
    case blocked
    case ended
  }

  typealias Place = LinkedList<Unretained>.Place

  /// A reference in the lists of its permits, which it leaves before its end.
  @safe struct Unretained: @unchecked Sendable {
    private let reference: Unmanaged<PermitHold>

    init(_ hold: PermitHold) { unsafe reference = .passUnretained(hold) }

    var hold: PermitHold { unsafe reference.takeUnretainedValue() }
  }

  package let claims: [PermitClaim]
  /// The hold of the enclosing run, which may have ended.
  let parent: PermitHold?
  private let state = Atomic(State.idle)
  let task: RaisableTask
  /// Where it is among the holds of the permits of the first claim, and of the other claims.
  private var place: Place?
  private var otherPlaces: [Place?] = []

  package convenience init(_ claims: [PermitClaim], below parent: PermitHold?) {
    self.init(claims, below: parent, in: nil)
  }

  /// - Parameter task: The task of the run.
  init(_ claims: [PermitClaim], below parent: PermitHold?, in task: RunningTask?) {
    self.claims = claims
    self.parent = parent
    self.task = RaisableTask(task)
  }

  /// Represents the end of a run: holds all permits of a kind that nothing else can hold. A waiter
  /// for the end of the run requests one of them.
  ///
  /// - Parameter name: The name in errors.
  convenience init(untilEndOf name: @escaping @Sendable () -> String) {
    let permits = Permits(withoutRuns: 1 << 30, naming: name)
    let claim = PermitClaim(permits: permits, number: permits.count)
    _ = PermitClaim.tryToTake([claim])
    self.init([claim], below: nil)
  }

  /// Waits until this hold has given its permits back.
  ///
  /// - Parameters:
  ///   - hold: The permits that the waiter and its enclosing runs hold.
  ///   - raise: Raises the priority of the run of this hold, which has no task here.
  /// - Throws: `CancellationError` at once when the task is cancelled, and a ``PermitError`` at
  ///   once if the wait would never end.
  func waitUntilEnd(
    below hold: PermitHold, raisingBy raise: @Sendable (TaskPriority) -> Void
  ) async throws {
    let claims = claims.map { PermitClaim(permits: $0.permits, number: 1) }
    if !PermitClaim.tryToTake(claims) {
      try await withTaskPriorityEscalationHandler {
        try await PermitLedger.take(claims, below: hold)
      } onPriorityEscalated: { _, priority in
        raise(priority)
      }
    }
    PermitClaim.giveBack(claims)
  }

  /// Lets waiters raise the priority of the run, which has just taken the permits.
  func joinHolders() {
    guard let first = claims.first else { return }
    place = first.permits.add(self)
    if claims.count > 1 { otherPlaces = claims.dropFirst().map { $0.permits.add(self) } }
    // A request that is made after this finds the hold.
    if PermitClaim.areInLedger(claims), let priority = PermitLedger.priority(ofWaitersFor: claims) {
      task.raiseOwn(to: priority)
    }
  }

  /// From now on, no waiter begins to raise the priority of the run. To be called before ``end()``.
  func leaveHolders() {
    if let place { claims[0].permits.remove(place) }
    if otherPlaces.isEmpty { return }
    for (claim, place) in zip(claims.dropFirst(), otherPlaces) {
      if let place { claim.permits.remove(place) }
    }
  }

  func end() {
    if markEnded() { PermitLedger.end(self) }
    PermitClaim.giveBack(claims)
  }

  /// This hold and the holds of the enclosing runs, innermost first.
  ///
  /// The chain stops at a hold that has ended: an operation that runs through a context that
  /// outlived its run is below no hold of that run.
  package var chain: some Sequence<PermitHold> {
    sequence(state: self as PermitHold?) { next in
      guard let hold = next, !hold.hasEnded else { return nil }
      next = hold.parent
      return hold
    }
  }

  /// How many permits of a kind this hold and the enclosing ones hold.
  func number(of permits: Permits) -> Int { chain.reduce(0) { $0 + $1.ownNumber(of: permits) } }

  /// How many permits of a kind this hold alone holds.
  func ownNumber(of permits: Permits) -> Int {
    claims.first { $0.permits === permits }?.number ?? 0
  }

  // MARK: State

  var hasEnded: Bool { state.load(ordering: .acquiring) == .ended }

  /// Records that the ledger counts the hold as blocked.
  ///
  /// - Returns: Whether the hold has not ended.
  func markBlocked() -> Bool {
    let exchange = state.compareExchange(
      expected: .idle, desired: .blocked, ordering: .acquiringAndReleasing)
    return exchange.original != .ended
  }

  func markUnblocked() {
    _ = state.compareExchange(
      expected: .blocked, desired: .idle, ordering: .acquiringAndReleasing)
  }

  /// - Returns: Whether the ledger counts the hold as blocked, and so has to be notified.
  package func markEnded() -> Bool {
    state.exchange(.ended, ordering: .acquiringAndReleasing) == .blocked
  }
}

extension OperationScope {
  /// The permits that this run and the enclosing runs hold.
  var permits: PermitHold? { hold as? PermitHold }
}
