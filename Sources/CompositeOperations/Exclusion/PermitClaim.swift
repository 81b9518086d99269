/// A number of permits of one kind that a request requires or a run holds.
@usableFromInline package struct PermitClaim: Sendable {
  package let permits: Permits
  package let number: Int

  @usableFromInline package init(permits: Permits, number: Int) {
    self.permits = permits
    self.number = number
  }

  var id: ObjectIdentifier { ObjectIdentifier(permits) }

  /// Takes the permits if that requires no wait.
  ///
  /// - Returns: Whether all of them were taken. Otherwise none was.
  @usableFromInline package static func tryToTake(_ claims: [PermitClaim]) -> Bool {
    for (index, claim) in claims.enumerated() where !claim.permits.tryToTake(claim.number) {
      giveBack(claims[..<index])
      return false
    }
    return true
  }

  static func giveBack(_ claims: some Sequence<PermitClaim>) {
    for claim in claims where !claim.permits.tryToGiveBack(claim.number) {
      PermitLedger.giveBack(claim)
    }
  }
}

extension [PermitClaim] {
  /// Merges the claims of two modifiers. Of permits that both claim, it takes the greater number.
  func merged(with others: [PermitClaim]) -> [PermitClaim] {
    var merged = self
    for other in others {
      if let index = merged.firstIndex(where: { $0.id == other.id }) {
        merged[index] = PermitClaim(
          permits: other.permits, number: Swift.max(merged[index].number, other.number))
      } else {
        merged.append(other)
      }
    }
    return merged
  }
}
