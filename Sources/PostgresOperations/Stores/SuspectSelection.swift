internal import DurableOperations

/// Which of the claimed runs a worker begins: no suspects, or one alone. The engine claims runs without regard to that.
struct SuspectSelection {
  /// How long a suspect waits for a worker that runs nothing else.
  private static let longestWait = Duration.seconds(30)

  /// The runs to begin.
  let runs: [AbsurdRun]
  /// The runs to give back.
  let others: [AbsurdRun]
  /// The suspect that has waited for too long: the worker begins nothing else until it has run it.
  let next: RunID?

  /// - Parameter isIdle: Whether the worker runs nothing else.
  init(of claimed: [AbsurdRun], isIdle: Bool) {
    let suspects = claimed.filter(\.run.isSuspect)
    let old = suspects.first { $0.age >= Self.longestWait }
    if suspects.isEmpty {
      (runs, next) = (claimed, nil)
    } else if !isIdle, let old {
      (runs, next) = ([], old.run.id)
    } else if isIdle, let alone = old ?? (suspects.count == claimed.count ? suspects.first : nil) {
      (runs, next) = ([alone], nil)
    } else {
      (runs, next) = (claimed.filter { !$0.run.isSuspect }, nil)
    }
    let begun = Set(runs.map(\.attemptID))
    others = claimed.filter { !begun.contains($0.attemptID) }
  }
}
