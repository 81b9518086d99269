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
    // A span, because a loop over the array would retain each claim.
    let all = claims.span
    for index in all.indices where !all[index].permits.tryToTake(all[index].number) {
      giveBack(Array(claims[..<index]))
      return false
    }
    return true
  }

  /// Whether the ledger counts any of the permits, so that requests may wait for them.
  static func areInLedger(_ claims: [PermitClaim]) -> Bool {
    let all = claims.span
    for index in all.indices where all[index].permits.countedByItself == nil { return true }
    return false
  }

  static func giveBack(_ claims: [PermitClaim]) {
    let all = claims.span
    for index in all.indices where !all[index].permits.tryToGiveBack(all[index].number) {
      PermitLedger.giveBack(all[index])
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
