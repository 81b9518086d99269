internal import CompositeOperations
internal import DurableOperations

/// A claim of this process.
struct HeldClaim: Sendable {
  let token: ClaimToken
  /// The identifier of the attempt, which each write names.
  let attemptID: String
  let taskID: String
  /// The name under which the attempt was claimed, which no other claim has.
  let worker: String
  /// The number of claims without a finished step, with this one.
  let claims: Int
  /// When the lease was last extended, at the latest.
  var extended: ContinuousClock.Instant
}

/// The claims of this process, whose leases it extends.
final class HeldClaims: Sendable {
  private let claims = Lock<[RunID: HeldClaim]>([:])

  var all: [HeldClaim] { claims.withLock { Array($0.values) } }

  func add(_ claim: HeldClaim) { claims.withLock { $0[claim.token.run] = claim } }

  /// - Throws: A ``DurableRunError`` if this process does not hold the claim any more.
  func claim(_ token: ClaimToken) throws -> HeldClaim {
    guard let claim = claims.withLock({ $0[token.run] }), claim.token == token else {
      throw DurableRunError(token.run, .taken(fence: token.fence))
    }
    return claim
  }

  /// Notes that the lease was extended.
  func extended(_ claim: HeldClaim, at time: ContinuousClock.Instant) {
    claims.withLock { claims in
      guard let held = claims[claim.token.run], held.worker == claim.worker else { return }
      claims[claim.token.run]?.extended = max(held.extended, time)
    }
  }

  func remove(_ claim: HeldClaim) {
    claims.withLock { claims in
      guard claims[claim.token.run]?.worker == claim.worker else { return }
      claims[claim.token.run] = nil
    }
  }
}
