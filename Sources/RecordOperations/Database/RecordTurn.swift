internal import CompositeOperations

/// An asynchronous mutex that is granted in FIFO order.
final class RecordTurn: Sendable {
  private struct State {
    var isTaken = false
    var next = 0
    var waiters: [(number: Int, waiter: CheckedContinuation<Void, any Error>)] = []
    /// The numbers of the waiters that were cancelled before they were queued.
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  /// The number of tasks that hold the mutex or wait for it.
  var count: Int { state.withLock { $0.waiters.count + ($0.isTaken ? 1 : 0) } }

  /// Acquires the mutex. The caller releases it with ``giveBack()``.
  ///
  /// - Throws: `CancellationError` if the task was cancelled before it acquired the mutex.
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

  /// Releases the mutex, and grants it to the next waiter.
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
