internal import CompositeOperations

/// Whose turn it is: one at a time, in the order in which they came.
final class RecordTurn: Sendable {
  private struct State {
    var isTaken = false
    var next = 0
    var waiters: [(number: Int, waiter: CheckedContinuation<Void, any Error>)] = []
    /// Those who were cancelled before they waited.
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  /// How many have it or wait for it.
  var count: Int { state.withLock { $0.waiters.count + ($0.isTaken ? 1 : 0) } }

  /// Returns when it is the caller's turn, which has to give it back.
  ///
  /// - Throws: `CancellationError`; then it is not.
  func take() async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let answer: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if state.isTaken {
            state.waiters.append((number, waiter))
            return nil
          }
          state.isTaken = true
          return .success(())
        }
        if let answer { waiter.resume(with: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        guard let place = state.waiters.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil as CheckedContinuation<Void, any Error>?
        }
        return state.waiters.remove(at: place).waiter
      }
      waiter?.resume(throwing: CancellationError())
    }
    _ = state.withLock { $0.cancelled.remove(number) }
  }

  func giveBack() {
    let waiter = state.withLock { state in
      if state.waiters.isEmpty {
        state.isTaken = false
        return nil as CheckedContinuation<Void, any Error>?
      }
      return state.waiters.removeFirst().waiter
    }
    waiter?.resume()
  }
}
