/// Ends a callback operation.
///
/// Call it once when the work is over. A second call changes nothing; observers are told of it.
/// Whoever begins the work keeps the handle until then, usually by capturing it in the completion
/// handler: a handle that is dropped uncalled ends the operation in an error, so that nobody waits
/// for ever.
public final class OperationFinish<Success: Sendable>: Sendable {
  private let storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  deinit { storage.drop() }

  /// Ends the operation.
  public func callAsFunction(_ outcome: Outcome<Success>) { storage.finish(outcome) }

  /// Ends the operation as the completion handlers of many APIs tell it.
  ///
  /// ```swift
  /// let page = SimpleOperation<Page>(callback: { finish in
  ///   oldAPI.fetchPage { result in finish(result) }
  /// })
  /// ```
  public func callAsFunction(_ result: Result<Success, some Error>) { self(Outcome(result)) }

  /// Has the work stopped when the run is cancelled.
  ///
  /// The handler is called once, on the thread of whoever cancels, or at once if the run has been
  /// cancelled already. It is not called when the operation has been finished before; the run does
  /// not end before the handler has returned.
  ///
  /// The handler is kept until the operation is finished. If it keeps what keeps the handle, such as
  /// a call that owns its completion handler, then nobody notices that the handle was forgotten, and
  /// the run waits: where the other API keeps its calls itself, write `[weak call] in`.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { storage.onCancel(handler) }
}

extension OperationFinish {
  /// The state of one run, which the handle, the body and the canceller share.
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
      case .call: call([handler])
      }
    }

    func cancel() { call(machine.withLock { $0.cancelled() }) }

    func finish(_ outcome: Outcome<Success>) {
      switch machine.withLock({ $0.finished(with: outcome) }) {
      case .none: break
      case .resume(let continuation): continuation.resume(returning: outcome)
      case .reportAgain: scope?.report(.finishedAgain(outcome.map { $0 }))
      }
    }

    func drop() {
      let never = Outcome<Success>.error(OperationNeverFinishedError())
      if case .resume(let continuation) = machine.withLock({ $0.finished(with: never) }) {
        continuation.resume(returning: never)
      }
    }

    private func call(_ handlers: [@Sendable () -> Void]) {
      if handlers.isEmpty { return }
      for handler in handlers { handler() }
      if let end = machine.withLock({ $0.handlersReturned() }) {
        end.continuation.resume(returning: end.outcome)
      }
    }
  }
}
