internal import Synchronization

/// The permits that one run holds, and those that the runs above it do.
final class PermitHold: Sendable {
  let claims: [PermitClaim]
  private let above: PermitHold?
  private let hasEnded = Atomic(false)

  init(_ claims: [PermitClaim], below above: PermitHold?) {
    self.claims = claims
    self.above = above
  }

  /// Stands for the end of a run: all permits of a kind that nobody has but who waits for that.
  ///
  /// - Parameter name: What errors call it.
  convenience init(untilEndOf name: @escaping @Sendable () -> String) {
    let permits = Permits(1 << 30, naming: name)
    let claim = PermitClaim(permits: permits, number: permits.count)
    _ = PermitClaim.tryToTake([claim])
    self.init([claim], below: nil)
  }

  /// Waits until those permits are back.
  ///
  /// - Parameter hold: What is held above the one who waits.
  /// - Throws: `CancellationError` at once when the task is cancelled, and a ``PermitError`` at once where
  ///   the end would never come.
  func waitUntilEnd(below hold: PermitHold) async throws {
    let claims = claims.map { PermitClaim(permits: $0.permits, number: 1) }
    if !PermitClaim.tryToTake(claims) { try await PermitLedger.take(claims, below: hold) }
    PermitClaim.giveBack(claims)
  }

  func end() {
    hasEnded.store(true, ordering: .releasing)
    PermitClaim.giveBack(claims)
  }

  /// This and those above it. Nothing if this has ended: what runs through a context that was kept
  /// beyond its run stands below nobody.
  var chain: [PermitHold] {
    hasEnded.load(ordering: .acquiring) ? [] : Array(sequence(first: self) { $0.above })
  }

  /// How many permits of a kind this and those above it hold.
  func number(of permits: Permits) -> Int {
    var number = 0
    for hold in chain {
      for claim in hold.claims where claim.permits === permits { number += claim.number }
    }
    return number
  }
}
