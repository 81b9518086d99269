import CompositeOperations

/// A value that is set once, and for which any number of tasks wait.
package final class Promise<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [Int: CheckedContinuation<Value, any Error>] = [:]
    var lastWaiter = 0
  }

  private let state = Lock(State())

  package init() {}

  /// The value; nil if it is not set yet.
  package var current: Value? { state.withLock { $0.value } }

  /// Sets the value. A later value has no effect.
  package func set(_ value: Value) {
    let waiters = state.withLock { state in
      if state.value != nil { return [CheckedContinuation<Value, any Error>]() }
      state.value = value
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: value) }
  }

  /// Waits for the value.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  package func wait() async throws -> Value {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let result: Result<Value, any Error>? = state.withLock { state in
          if let value = state.value { return .success(value) }
          // The cancellation handler may have been called before the waiter was added.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = waiter
          return nil
        }
        if let result { waiter.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }
}
