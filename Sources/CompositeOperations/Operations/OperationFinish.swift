/// A handle that ends a callback operation.
///
/// Keep the handle until the work is over, usually by capturing it in the completion handler, and
/// then call it once. A second call has no effect except an event for the observers. If the handle
/// is released without a call, the operation ends in an ``OperationNeverFinishedError``, because
/// the run would otherwise wait forever. ``SimpleOperation/withCallback(_:)`` has an example.
public final class OperationFinish<Success: Sendable>: Sendable {
  private let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  deinit { storage.drop() }

  /// Ends the operation with an outcome.
  public func callAsFunction(_ outcome: Outcome<Success>) { storage.finish(outcome) }

  /// Ends the operation with a `Result`, which many completion handlers receive.
  ///
  /// ```swift
  /// let page = SimpleOperation<Page>.withCallback { finish in
  ///   oldAPI.fetchPage { result in finish(result) }
  /// }
  /// ```
  public func callAsFunction(_ result: Result<Success, some Error>) { self(Outcome(result)) }

  /// Registers a handler that stops the work when the run is cancelled.
  ///
  /// Each handler is called once. Handlers that were registered before the cancellation are called
  /// one after another, on the thread that cancels the run. A handler that is registered after the
  /// cancellation is called at once, on the registering thread.
  ///
  /// When the operation has been finished, no further handler is called. A handler may be running
  /// on another thread at that time. The call that finishes the operation then returns at once, but
  /// the run ends only after the handler has returned.
  ///
  /// A handler is retained until it has been called or the operation has been finished. When the
  /// handler is released, so are the objects that it captures. Their `deinit` may safely finish the
  /// operation.
  ///
  /// Capture the running work weakly in the cancel handler:
  ///
  /// ```swift
  /// let legacy = SimpleOperation<Data>.withCallback { finish in
  ///   let call = oldAPI.fetch { data, error in
  ///     finish(data.map(Outcome.result) ?? .error(error ?? OldAPIError.unknown))
  ///   }
  ///   finish.onCancel { [weak call] in call?.cancel() }
  /// }
  /// ```
  ///
  /// Here, `call` retains the completion handler, which retains `finish`, which retains the cancel
  /// handler. A cancel handler that retained `call` would complete a retain cycle, which would keep
  /// `finish` alive. A run whose completion handler is never called would then wait forever,
  /// instead of ending in an ``OperationNeverFinishedError``. If an API requires that the caller
  /// retains the call, capture `call` strongly nevertheless: a call that is released may never
  /// call its completion handler.
  ///
  /// - Parameter handler: Stops the work.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { storage.onCancel(handler) }
}

extension OperationFinish {
  /// The state of one run, shared by the handle, the body and the canceller.
  final class Storage: Sendable {
    private let machine = Lock(StateMachine())
    private let scope: OperationScope?

    init(scope: OperationScope?) { self.scope = scope }

    func wait(_ continuation: CheckedContinuation<Outcome<Success>, Never>) {
      machine.withLock { $0.waited(continuation) }
    }

    func onCancel(_ handler: @escaping @Sendable () -> Void) {
      switch machine.withLock({ $0.handlerRegistered(handler) }) {
      case .none: break
      case .call: call(handler, takesNext: false)
      }
    }

    func cancel() {
      guard let first = machine.withLock({ $0.cancelled() }) else { return }
      call(first, takesNext: true)
    }

    func finish(_ outcome: Outcome<Success>) {
      // Unused handlers are freed when this returns, outside the lock.
      let (action, unused) = machine.withLock { $0.finished(with: outcome) }
      withExtendedLifetime(unused) {
        switch action {
        case .none: break
        case .resume(let end): end.resume()
        case .reportAgain: scope?.report(.finishedAgain(outcome.map { $0 }))
        }
      }
    }

    func drop() {
      let never = Outcome<Success>.error(OperationNeverFinishedError())
      let (action, unused) = machine.withLock { $0.finished(with: never) }
      withExtendedLifetime(unused) {
        if case .resume(let end) = action { end.resume() }
      }
    }

    /// Calls a handler and then the handlers that are pending when it returns.
    private func call(_ handler: @escaping @Sendable () -> Void, takesNext: Bool) {
      var handler = handler
      while true {
        handler()
        switch machine.withLock({ $0.handlerReturned(takesNext: takesNext) }) {
        case .none: return
        case .call(let next): handler = next
        case .resume(let end): return end.resume()
        }
      }
    }
  }
}

extension OperationFinish.StateMachine.End {
  fileprivate func resume() { continuation.resume(returning: outcome) }
}

extension SimpleOperation {
  /// Returns an operation for work that reports its end to a completion handler.
  ///
  /// ```swift
  /// let legacy = SimpleOperation<Data>.withCallback { finish in
  ///   let call = oldAPI.fetch { data, error in
  ///     finish(data.map(Outcome.result) ?? .error(error ?? OldAPIError.unknown))
  ///   }
  ///   finish.onCancel { [weak call] in call?.cancel() }
  /// }
  /// ```
  ///
  /// The closure receives an ``OperationFinish``, here `finish`. The run ends when `finish` is
  /// called, from any thread. If `finish` is released without a call, the run ends in an
  /// ``OperationNeverFinishedError``.
  ///
  /// - Parameter begin: Starts the work. It must ensure that the ``OperationFinish`` is retained
  ///   until the work is over, usually by capturing it in the completion handler. An error that it
  ///   throws ends the run.
  public static func withCallback(
    _ begin: @escaping @Sendable (OperationFinish<Success>) throws -> Void
  ) -> SimpleOperation {
    withContext { context in
      let ending = OperationFinish<Success>.Storage(scope: context.scope)
      let outcome = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          ending.wait(continuation)
          let finish = OperationFinish(ending)
          do { try begin(finish) } catch { finish(.error(error)) }
        }
      } onCancel: {
        ending.cancel()
      }
      return try outcome.get()
    }
  }
}

/// The error of a callback operation whose finish handle was released without a call.
public struct OperationNeverFinishedError: Error, CustomStringConvertible {
  public var description: String {
    "the finish handle of a callback operation was dropped before it was called; "
      + "call it once on every path, including failure and cancellation"
  }
}
