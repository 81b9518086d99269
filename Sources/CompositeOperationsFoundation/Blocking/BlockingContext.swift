public import CompositeOperations
internal import Dispatch

/// The context of the function of a ``BlockingOperation``, for cancellation, log messages and
/// progress.
///
/// The function runs in a task, so `Task.isCancelled` reports the cancellation of the run too. Unlike
/// that task, the context can be passed to other threads.
public struct BlockingContext: Sendable {
  /// The context of the run, for log messages and progress.
  public let operationContext: OperationContext
  private let cancellation = Cancellation()

  init(_ operationContext: OperationContext) { self.operationContext = operationContext }

  /// Whether the run was cancelled.
  public var isCancelled: Bool { cancellation.isRequested }

  /// Throws an error if the run was cancelled.
  ///
  /// - Throws: `CancellationError`.
  public func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Calls a blocking function, with a handler that stops it if the run is cancelled.
  ///
  /// ```swift
  /// import CompositeOperationsFoundation
  ///
  /// let answer = BlockingOperation { context in
  ///   let connection = try openConnection()
  ///   defer { close(connection) }
  ///   return try context.withCancellationHandler {
  ///     try readAnswer(from: connection)
  ///   } onCancel: {
  ///     shutdown(connection, Int32(SHUT_RDWR))
  ///   }
  /// }
  /// ```
  ///
  /// The example shuts the connection down and does not close it. On Linux, closing it would not
  /// wake a thread that reads from it, and another connection could get its number.
  ///
  /// The handler is called at most once, on the thread that cancels the run, or at once if the run
  /// is already cancelled. When this method returns, the handler has returned or will never be
  /// called, so the resources that it uses can be freed.
  ///
  /// - Parameters:
  ///   - body: The blocking function.
  ///   - handler: Stops the function. It must not wait for anything that happens only after this
  ///     method has returned.
  /// - Returns: The value that `body` returns.
  /// - Throws: The error that `body` throws.
  public func withCancellationHandler<Value>(
    _ body: () throws -> Value, onCancel handler: @escaping @Sendable () -> Void
  ) rethrows -> Value {
    let handler = Handler(handler)
    cancellation.add(handler)
    defer {
      cancellation.remove(handler)
      handler.end()
    }
    return try body()
  }

  func cancel() { cancellation.request() }
}

extension BlockingContext {
  private final class Cancellation: Sendable {
    private struct State: Sendable {
      var isRequested = false
      var handlers: [Handler] = []
    }

    private let state = Lock(State())

    var isRequested: Bool { state.withLock { $0.isRequested } }

    func add(_ handler: Handler) {
      let isCancelled = state.withLock { state in
        if !state.isRequested { state.handlers.append(handler) }
        return state.isRequested
      }
      if isCancelled { handler.call() }
    }

    func remove(_ handler: Handler) {
      state.withLock { $0.handlers.removeAll { $0 === handler } }
    }

    func request() {
      let handlers = state.withLock { state in
        defer { state = State(isRequested: true) }
        return state.handlers
      }
      // Not under the lock: handlers are user code. The innermost handler is called first, because
      // it belongs to the function that blocks.
      for handler in handlers.reversed() { handler.call() }
    }
  }

  /// A handler that may be called while its body runs. The end of the body waits for a call in
  /// progress.
  private final class Handler: Sendable {
    private enum State: Sendable { case pending, running, finished }

    private let body: @Sendable () -> Void
    private let state = Lock(State.pending)
    private let hasReturned = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func call() {
      let isFirst = state.withLock { state in
        guard state == .pending else { return false }
        state = .running
        return true
      }
      guard isFirst else { return }
      body()
      state.withLock { $0 = .finished }
      hasReturned.signal()
    }

    func end() {
      let isRunning = state.withLock { state in
        if state == .pending { state = .finished }
        return state == .running
      }
      // This thread may block.
      if isRunning { hasReturned.wait() }
    }
  }
}
