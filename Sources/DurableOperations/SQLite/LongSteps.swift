internal import CompositeOperations

/// Stores which step a run performs, if that takes longer than a second, so that other processes can show it. A
/// faster step costs no write.
final class LongSteps: Sendable {
  typealias Store = @Sendable ([(ClaimToken, RunningStep)]) async -> Void

  private struct Entry: Sendable {
    let claim: ClaimToken
    let step: RunningStep
    let began: ContinuousClock.Instant
    var isStored = false
  }

  private struct State: Sendable {
    var steps: [RunID: Entry] = [:]
    /// Whether a task looks for steps that have become long.
    var isLooking = false
  }

  private static let delay = Duration.seconds(1)
  private let state = Lock(State())

  /// - Parameter store: Stores long steps. It must not keep the store of the runs alive.
  func begin(_ step: RunningStep, by claim: ClaimToken, storing store: @escaping Store) {
    let isFirst = state.withLock { state in
      state.steps[claim.run] = Entry(claim: claim, step: step, began: .now)
      defer { state.isLooking = true }
      return !state.isLooking
    }
    if isFirst { Task { await look(store) } }
  }

  func end(by claim: ClaimToken) {
    state.withLock { state in
      if state.steps[claim.run]?.claim == claim { state.steps[claim.run] = nil }
    }
  }

  private func look(_ store: Store) async {
    repeat {
      try? await Task.sleep(for: Self.delay)
      let due = state.withLock { state in
        let limit = ContinuousClock.now - Self.delay
        let due = state.steps.values.filter { !$0.isStored && $0.began <= limit }
        for entry in due { state.steps[entry.claim.run]?.isStored = true }
        return due
      }
      if !due.isEmpty { await store(due.map { ($0.claim, $0.step) }) }
    } while state.withLock { state in
      state.isLooking = !state.steps.isEmpty
      return state.isLooking
    }
  }
}
