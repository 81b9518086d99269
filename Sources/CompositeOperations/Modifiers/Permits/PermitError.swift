/// The error of an operation whose wait, for permits or for a shared run, would be a deadlock.
///
/// The operation fails with it at once instead of waiting forever.
public struct PermitError: Error, Hashable, Sendable {
  /// Why the wait would be a deadlock.
  public enum Reason: Hashable, Sendable {
    /// An enclosing operation holds the permits, and waits for the end of this operation.
    case heldByAncestor
    /// The holder of the permits waits, directly or through other operations, for something that an
    /// enclosing operation holds: a cycle.
    case deadlock
  }

  /// The names of the permits that the operation requested, or of the shared result.
  public let wanted: [String]
  /// The names of the permits that enclosing operations hold, and of the results that others await.
  public let held: [String]
  /// Why the wait would be a deadlock.
  public let reason: Reason
}

extension PermitError {
  /// Creates the error of a request that was refused.
  ///
  /// Reads the names of the permits, which runs user code.
  init(wanting claims: [PermitClaim], below hold: PermitHold?) {
    let isHeldAbove = claims.contains { claim in
      hold.map { $0.number(of: claim.permits) > claim.permits.count - claim.number } == true
    }
    wanted = claims.map(\.permits.name)
    held = (hold?.chain.flatMap { $0.claims.map(\.permits.name) } ?? []).reversed()
    reason = isHeldAbove ? .heldByAncestor : .deadlock
  }
}

extension PermitError: CustomStringConvertible {
  public var description: String {
    let wanted = wanted.joined(separator: "', '")
    return switch reason {
    case .heldByAncestor:
      "deadlock: '\(wanted)' is held by an enclosing operation until it ends"
    case .deadlock:
      "deadlock: the holder of '\(wanted)' waits for '\(held.joined(separator: "', '"))', which an "
        + "enclosing operation holds; take both at once, or always in the same order"
    }
  }
}
