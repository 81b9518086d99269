internal import Synchronization

/// The permits that one run holds, linked to the holds of the enclosing runs.
// Unchecked, because its superclass is: all stored properties are constant or atomic.
package final class PermitHold: RunHold, @unchecked Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case idle
    /// A request waits below it, so the ledger counts it as blocked.
    case blocked
    case ended
  }

  package let claims: [PermitClaim]
  /// The hold of the enclosing run, which may have ended.
  let parent: PermitHold?
  private let state = Atomic(State.idle)

  package init(_ claims: [PermitClaim], below parent: PermitHold?) {
    self.claims = claims
    self.parent = parent
  }

  /// Represents the end of a run: holds all permits of a kind that nothing else can hold. A waiter
  /// for the end of the run requests one of them.
  ///
  /// - Parameter name: The name in errors.
  convenience init(untilEndOf name: @escaping @Sendable () -> String) {
    let permits = Permits(1 << 30, naming: name)
    let claim = PermitClaim(permits: permits, number: permits.count)
    _ = PermitClaim.tryToTake([claim])
    self.init([claim], below: nil)
  }

  /// Waits until this hold has given its permits back.
  ///
  /// - Parameter hold: The permits that the waiter and its enclosing runs hold.
  /// - Throws: `CancellationError` at once when the task is cancelled, and a ``PermitError`` at
  ///   once if the wait would never end.
  func waitUntilEnd(below hold: PermitHold) async throws {
    let claims = claims.map { PermitClaim(permits: $0.permits, number: 1) }
    if !PermitClaim.tryToTake(claims) { try await PermitLedger.take(claims, below: hold) }
    PermitClaim.giveBack(claims)
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
