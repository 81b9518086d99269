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
