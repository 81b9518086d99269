extension OperationFinish {
  /// When a callback operation is finished, cancelled and asked to call cancel handlers, in any
  /// order and from any thread.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<Outcome<Success>, Never>
    typealias Handler = @Sendable () -> Void

    struct End: Sendable {
      let continuation: Continuation
      let outcome: Outcome<Success>
    }

    enum RegisterAction { case none, call }
    enum FinishAction {
      case none
      case resume(Continuation)
      case reportAgain
    }

    private enum State {
      /// The body has not come to its wait. The run may have been cancelled already.
      case beginning(isCancelled: Bool)
      /// The work goes on.
      case waiting(Continuation, handlers: [Handler])
      /// The run was cancelled; the work goes on. `running` handlers have not returned; if the work
      /// was finished meanwhile, the last of them ends the wait.
      case cancelled(Continuation, running: Int, finish: Outcome<Success>?)
      /// The wait is over.
      case finished
    }

    private var state = State.beginning(isCancelled: false)

    mutating func waited(_ continuation: Continuation) {
      switch state {
      case .beginning(isCancelled: false): state = .waiting(continuation, handlers: [])
      case .beginning(isCancelled: true): state = .cancelled(continuation, running: 0, finish: nil)
      case .waiting, .cancelled, .finished:
        preconditionFailure("A callback operation waited twice in \(state).")
      }
    }

    mutating func handlerRegistered(_ handler: @escaping Handler) -> RegisterAction {
      switch state {
      case .beginning:
        preconditionFailure("A cancel handler came before the wait, in \(state).")
      case .waiting(let continuation, let handlers):
        state = .waiting(continuation, handlers: handlers + [handler])
        return .none
      case .cancelled(let continuation, let running, finish: nil):
        state = .cancelled(continuation, running: running + 1, finish: nil)
        return .call
      case .cancelled, .finished:
        return .none
      }
    }

    /// - Returns: The handlers to call; report then that they have returned.
    mutating func cancelled() -> [Handler] {
      switch state {
      case .beginning:
        state = .beginning(isCancelled: true)
        return []
      case .waiting(let continuation, let handlers):
        state = .cancelled(continuation, running: handlers.isEmpty ? 0 : 1, finish: nil)
        return handlers
      case .cancelled, .finished:
        return []
      }
    }

    /// - Returns: What the wait is to end with, if that was put off until now.
    mutating func handlersReturned() -> End? {
      switch state {
      case .cancelled(let continuation, running: 1, let outcome?):
        state = .finished
        return End(continuation: continuation, outcome: outcome)
      case .cancelled(let continuation, let running, let outcome):
        state = .cancelled(continuation, running: running - 1, finish: outcome)
        return nil
      case .beginning, .waiting, .finished:
        preconditionFailure("Cancel handlers returned in \(state).")
      }
    }

    mutating func finished(with outcome: Outcome<Success>) -> FinishAction {
      switch state {
      case .beginning:
        preconditionFailure("A callback operation was finished before its wait, in \(state).")
      case .waiting(let continuation, _), .cancelled(let continuation, running: 0, finish: nil):
        state = .finished
        return .resume(continuation)
      case .cancelled(let continuation, let running, finish: nil):
        state = .cancelled(continuation, running: running, finish: outcome)
        return .none
      case .cancelled, .finished:
        return .reportAgain
      }
    }
  }
}
