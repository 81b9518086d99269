import CompositeOperations

extension Builder {
  func retrying(
    _ retrying: Tree.Retrying, _ base: some ComposableOperation<ShownValue>, _ another: AnyShown,
    at node: Int
  ) -> AnyShown {
    let attempts = retrying.attempts
    let backoff = Backoff.constant(TickClock.time(retrying.delay))
    switch retrying.asking {
    case .noClosure: return recorded(base.retrying(attempts: attempts, backoff: backoff), at: node)
    case .whetherWorthwhile:
      return recorded(
        base.retrying(attempts: attempts, backoff: backoff) { isWorthwhile($0, at: node) },
        at: node)
    case .decision(let decisions, let yields):
      return recorded(
        base.retrying(upTo: attempts, backoff: backoff) { failure in
          recordError(failure.error, ofAttempt: failure.number, at: node)
          for _ in 0..<yields { await Task.yield() }
          let decision = decisions[(failure.number - 1) % decisions.count]
          return try decide(decision, after: failure, another, at: node)
        }, at: node)
    }
  }

  /// Records that a closure receives an error.
  func recordError(_ error: any Error, ofAttempt attempt: Int? = nil, at node: Int) {
    recorder.add { .calledWithError(node, ShownError(error), attempt: attempt, isCancelled: $0) }
  }

  private func isWorthwhile(_ error: any Error, at node: Int) -> Bool {
    recordError(error, at: node)
    let isWorthwhile = recorder.percent(70)
    recorder.add(.answered(node, isWorthwhile ? .again : .end))
    return isWorthwhile
  }

  private func decide(
    _ decision: Tree.Retrying.Decision, after failure: FailedAttempt, _ another: AnyShown,
    at node: Int
  ) throws -> RetryDecision<ShownValue> {
    let thrown: any Error
    switch decision {
    case .again:
      recorder.add(.answered(node, .again))
      return .retry(after: failure.delay)
    case .another:
      recorder.add(.answered(node, .child(1)))
      return .retry(after: failure.delay, with: another)
    case .stop:
      recorder.add(.answered(node, .end))
      return .stop
    case .error: thrown = NumberedError(number: recorder.number())
    case .cancellation: thrown = CancellationError()
    case .sameError: thrown = failure.error
    }
    recorder.add(.answered(node, .threw(ShownError(thrown))))
    throw thrown
  }
}
