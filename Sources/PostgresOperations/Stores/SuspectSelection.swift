internal import CompositeOperations
internal import DurableOperations

/// Which of the claimed runs a worker begins: no suspects, or one alone. The engine does not tell them apart when it
/// claims.
struct SuspectSelection {
  /// How long a suspect waits for a worker that runs nothing else.
  private static let longestWait = Duration.seconds(30)

  /// The runs to begin.
  let runs: [AbsurdRun]
  /// The runs to give back.
  let others: [AbsurdRun]
  /// The suspect that has waited for too long: the worker begins nothing else until it has run it.
  let next: AbsurdRun?

  /// - Parameters:
  ///   - isIdle: Whether the worker runs nothing else.
  ///   - mostClaims: The number of claims after which a run is stuck, and does not begin.
  init(of claimed: [AbsurdRun], isIdle: Bool, mostClaims: Int) {
    func isSuspect(_ run: AbsurdRun) -> Bool { run.run.isSuspect && run.run.claims <= mostClaims }
    let suspects = claimed.filter(isSuspect)
    let old = suspects.first { $0.age >= Self.longestWait }
    if suspects.isEmpty {
      (runs, next) = (claimed, nil)
    } else if !isIdle, let old {
      (runs, next) = ([], old)
    } else if isIdle, let alone = old ?? (suspects.count == claimed.count ? suspects.first : nil) {
      (runs, next) = ([alone], nil)
    } else {
      (runs, next) = (claimed.filter { !isSuspect($0) }, nil)
    }
    let begun = Set(runs.map(\.attemptID))
    others = claimed.filter { !begun.contains($0.attemptID) }
  }
}

/// A suspect that has waited for too long for a worker that runs nothing else.
struct WaitingSuspect: Sendable {
  let id: RunID
  let flow: String
  /// When it was last known to wait.
  var checked: ContinuousClock.Instant
}
