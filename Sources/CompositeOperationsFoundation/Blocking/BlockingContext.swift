public import CompositeOperations
internal import Dispatch

/// What the function of a ``BlockingOperation`` sees of its run. It is no task, and knows nothing of one.
public struct BlockingContext: Sendable {
  /// For lines of the log and for progress.
  public let operation: OperationContext
  private let cancellation = Cancellation()

  init(_ operation: OperationContext) { self.operation = operation }

  /// Whether the run was cancelled.
  public var isCancelled: Bool { cancellation.isRequested }

  /// - Throws: `CancellationError` if the run was cancelled.
  public func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Calls what blocks, and has something done if the run is cancelled meanwhile, such as waking it.
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
  /// A connection is shut down there and not closed: on Linux closing it would not wake who reads from it, and
  /// another one could get its number.
  ///
  /// The handler is called at most once, on the thread of whoever cancels, or at once if the run has been
  /// cancelled already. When this returns it has returned, too, or never will be called, and nothing of it is
  /// left: so what it uses may be given back then.
  ///
  /// - Parameters:
  ///   - body: What blocks.
  ///   - handler: Has it stop. It must not wait for what happens only after this has returned.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
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
      let isLate = state.withLock { state in
        if !state.isRequested { state.handlers.append(handler) }
        return state.isRequested
      }
      if isLate { handler.call() }
    }

    func remove(_ handler: Handler) {
      state.withLock { $0.handlers.removeAll { $0 === handler } }
    }

    func request() {
      let handlers = state.withLock { state in
        defer { state = State(isRequested: true) }
        return state.handlers
      }
      // Not under the lock: they are code of others. The innermost is what blocks.
      for handler in handlers.reversed() { handler.call() }
    }
  }

  /// What is called as long as the body goes on, and waited for at its end.
  private final class Handler: Sendable {
    private enum State: Sendable { case waiting, running, over }

    private let body: @Sendable () -> Void
    private let state = Lock(State.waiting)
    private let hasReturned = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func call() {
      let isFirst = state.withLock { state in
        guard state == .waiting else { return false }
        state = .running
        return true
      }
      guard isFirst else { return }
      body()
      state.withLock { $0 = .over }
      hasReturned.signal()
    }

    func end() {
      let isRunning = state.withLock { state in
        if state == .waiting { state = .over }
        return state == .running
      }
      // Whoever ends it is on a thread that may wait.
      if isRunning { hasReturned.wait() }
    }
  }
}
