/// The error of an operation that would have waited for ever: for its permits, or for a run that others
/// share.
public struct PermitError: Error, Hashable, Sendable {
  /// Why they would never have come.
  public enum Reason: Hashable, Sendable {
    /// The operation runs inside one that holds them, and that one waits for its end.
    case heldAbove
    /// Whoever holds them waits, by way of others, for what is held above this operation.
    case circle
  }

  /// What the operation asked for: the names of the permits, or the result that is shared.
  public let wanted: [String]
  /// What is held above it: the names of permits, and the results that others wait for.
  public let held: [String]
  /// Why they would never have come.
  public let reason: Reason
}

extension PermitError {
  /// The error of a request that was refused.
  ///
  /// Reads the names of the permits, which runs user code.
  init(wanting claims: [PermitClaim], below hold: PermitHold?) {
    let isHeldAbove = claims.contains { claim in
      hold.map { $0.number(of: claim.permits) > claim.permits.count - claim.number } == true
    }
    wanted = claims.map(\.permits.name)
    held = (hold?.chain.flatMap { $0.claims.map(\.permits.name) } ?? []).reversed()
    reason = isHeldAbove ? .heldAbove : .circle
  }
}

extension PermitError: CustomStringConvertible {
  public var description: String {
    let wanted = wanted.joined(separator: "', '")
    return switch reason {
    case .heldAbove:
      "deadlock: '\(wanted)' is held by an enclosing operation until it ends"
    case .circle:
      "deadlock: the holder of '\(wanted)' waits for '\(held.joined(separator: "', '"))', which an "
        + "enclosing operation holds; take both at once, or always in the same order"
    }
  }
}
