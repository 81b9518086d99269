import Synchronization

/// The times at which the flows of this process have done something.
enum FlowTimes {
  enum Kind { case commit, nextOperation, stepBegan }

  private struct State {
    var counts: [Kind: Int] = [:]
    var last: [Kind: ContinuousClock.Instant] = [:]
  }

  private static let state = Mutex(State())

  static func note(_ kind: Kind) {
    let now = ContinuousClock.now
    state.withLock { state in
      state.counts[kind, default: 0] += 1
      state.last[kind] = now
    }
  }

  static func reset() { state.withLock { $0 = State() } }

  static func last(_ kind: Kind) -> ContinuousClock.Instant? { state.withLock { $0.last[kind] } }

  /// Waits until something has happened a number of times since the last reset.
  ///
  /// - Returns: The last time at which it happened.
  /// - Throws: A ``BenchmarkError`` after a minute.
  static func wait(
    for kind: Kind, times count: Int = 1
  ) async throws -> ContinuousClock.Instant {
    let limit = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < limit {
      let last = state.withLock { state in
        state.counts[kind, default: 0] >= count ? state.last[kind] : nil
      }
      if let last { return last }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw BenchmarkError("the flows have not continued within a minute")
  }
}
