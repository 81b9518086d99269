import Dispatch
import Synchronization

/// The times at which the flows of this process have done something.
enum FlowTimes {
  enum Kind { case commit, nextOperation, stepBegan, output }

  private struct Waiter {
    let kind: Kind
    let count: Int
    let continuation: CheckedContinuation<ContinuousClock.Instant, any Error>
  }

  private struct State {
    var counts: [Kind: Int] = [:]
    var last: [Kind: ContinuousClock.Instant] = [:]
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0

    /// - Returns: The waiters for what has happened.
    mutating func noted(_ kind: Kind, at now: ContinuousClock.Instant) -> [Waiter] {
      counts[kind, default: 0] += 1
      last[kind] = now
      let ready = waiters.filter { counts[$0.value.kind, default: 0] >= $0.value.count }
      for key in ready.keys { waiters[key] = nil }
      return Array(ready.values)
    }
  }

  private static let state = Mutex(State())

  static func note(_ kind: Kind) {
    let now = ContinuousClock.now
    for waiter in state.withLock({ $0.noted(kind, at: now) }) {
      waiter.continuation.resume(returning: now)
    }
  }

  static func reset() {
    state.withLock { state in
      state.counts = [:]
      state.last = [:]
    }
  }

  static func last(_ kind: Kind) -> ContinuousClock.Instant? { state.withLock { $0.last[kind] } }

  /// Waits until something has happened a number of times since the last reset.
  ///
  /// - Returns: The last time at which it happened.
  /// - Throws: A ``BenchmarkError`` after a minute.
  static func wait(
    for kind: Kind, times count: Int = 1
  ) async throws -> ContinuousClock.Instant {
    try await withCheckedThrowingContinuation { continuation in
      let waiter = Waiter(kind: kind, count: count, continuation: continuation)
      let (number, last) = state.withLock { state in
        state.nextWaiter += 1
        let isOver = state.counts[kind, default: 0] >= count
        if !isOver { state.waiters[state.nextWaiter] = waiter }
        return (state.nextWaiter, isOver ? state.last[kind] : nil)
      }
      if let last { return continuation.resume(returning: last) }
      DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
        let late = state.withLock { $0.waiters.removeValue(forKey: number) }
        late?.continuation.resume(
          throwing: BenchmarkError("the flows have not continued within a minute"))
      }
    }
  }
}
