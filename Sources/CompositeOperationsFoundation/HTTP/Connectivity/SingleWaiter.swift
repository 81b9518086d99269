internal import CompositeOperations

/// A waiter for the first of several answers. Later answers are dropped.
final class SingleWaiter: Sendable {
  private enum State: Sendable {
    case new
    case waiting(CheckedContinuation<Bool, Never>)
    case answered(Bool)
  }

  private let state = Lock(State.new)

  func wait(_ continuation: CheckedContinuation<Bool, Never>) {
    let answer = state.withLock { state -> Bool? in
      if case .answered(let answer) = state { return answer }
      state = .waiting(continuation)
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  func resume(_ answer: Bool) {
    let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      let waiter: CheckedContinuation<Bool, Never>? =
        if case .waiting(let waiter) = state { waiter } else { nil }
      if case .answered = state { return nil }
      state = .answered(answer)
      return waiter
    }
    waiter?.resume(returning: answer)
  }
}
