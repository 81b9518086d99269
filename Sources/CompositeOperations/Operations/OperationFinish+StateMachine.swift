extension OperationFinish {
  /// Orders the finish, the cancellation and the cancel handlers of a callback operation, which
  /// arrive in any order and from any thread.
  ///
  /// Handlers that are no longer needed are returned, so that they are freed outside the lock: a
  /// handler may own the last reference to a call whose `deinit` finishes the operation.
  struct StateMachine: Sendable {
    typealias Continuation = CheckedContinuation<Outcome<Success>, Never>
    typealias Handler = @Sendable () -> Void

    /// The continuation to resume, and the outcome that it receives.
    struct End: Sendable {
      let continuation: Continuation
      let outcome: Outcome<Success>
    }

    enum RegisterAction {
      case none
      case call
    }

    enum FinishAction {
      case none
      case resume(End)
      case reportAgain
    }

    enum ReturnAction {
      case none
      case call(Handler)
      case resume(End)
    }

    private enum State {
      /// The body has not reached its wait. The run may have been cancelled already.
      case beginning(isCancelled: Bool)
      /// The work continues.
      case waiting(Continuation, handlers: [Handler])
      /// The run was cancelled and the work continues. `calls` handlers are being called, and the
      /// `pending` ones follow, the last one first.
      case cancelled(Continuation, calls: Int, pending: [Handler])
      /// The work was finished while `calls` handlers were being called. The last of them ends the
      /// wait.
      case finishing(End, calls: Int)
      /// The wait is over.
      case finished
    }

    private var state = State.beginning(isCancelled: false)

    mutating func waited(_ continuation: Continuation) {
      switch state {
      case .beginning(isCancelled: false): state = .waiting(continuation, handlers: [])
      case .beginning(isCancelled: true): state = .cancelled(continuation, calls: 0, pending: [])
      case .waiting, .cancelled, .finishing, .finished:
        preconditionFailure("a callback operation waited twice")
      }
    }

    /// - Returns: Whether the caller must call the handler now and report its return.
    mutating func handlerRegistered(_ handler: @escaping Handler) -> RegisterAction {
      switch state {
      case .beginning:
        preconditionFailure("a cancel handler was registered before the wait")
      case .waiting(let continuation, let handlers):
        state = .waiting(continuation, handlers: handlers + [handler])
        return .none
      case .cancelled(let continuation, let calls, let pending):
        state = .cancelled(continuation, calls: calls + 1, pending: pending)
        return .call
      case .finishing, .finished:
        return .none
      }
    }

    /// - Returns: The first handler to call. The caller reports its return.
    mutating func cancelled() -> Handler? {
      switch state {
      case .beginning:
        state = .beginning(isCancelled: true)
        return nil
      case .waiting(let continuation, let handlers):
        state = .cancelled(
          continuation, calls: handlers.isEmpty ? 0 : 1, pending: handlers.dropFirst().reversed())
        return handlers.first
      case .cancelled, .finishing, .finished:
        return nil
      }
    }

    /// A handler has returned.
    ///
    /// - Parameter takesNext: Whether the caller calls the next handler, as the canceller does. A
    ///   handler that was registered after the cancellation is called by the registering thread.
    mutating func handlerReturned(takesNext: Bool) -> ReturnAction {
      switch state {
      case .cancelled(let continuation, let calls, var pending):
        let next = takesNext ? pending.popLast() : nil
        state = .cancelled(
          continuation, calls: next == nil ? calls - 1 : calls, pending: pending)
        return next.map(ReturnAction.call) ?? .none
      case .finishing(let end, calls: 1):
        state = .finished
        return .resume(end)
      case .finishing(let end, let calls):
        state = .finishing(end, calls: calls - 1)
        return .none
      case .beginning, .waiting, .finished:
        preconditionFailure("a cancel handler returned without having been called")
      }
    }

    /// - Returns: The action, and the handlers that will not be called.
    mutating func finished(
      with outcome: Outcome<Success>
    ) -> (FinishAction, unused: [Handler]) {
      switch state {
      case .beginning:
        preconditionFailure("a callback operation was finished before its wait")
      case .waiting(let continuation, let handlers):
        state = .finished
        return (.resume(End(continuation: continuation, outcome: outcome)), handlers)
      case .cancelled(let continuation, calls: 0, let pending):
        state = .finished
        return (.resume(End(continuation: continuation, outcome: outcome)), pending)
      case .cancelled(let continuation, let calls, let pending):
        state = .finishing(End(continuation: continuation, outcome: outcome), calls: calls)
        return (.none, pending)
      case .finishing, .finished:
        return (.reportAgain, [])
      }
    }
  }
}
