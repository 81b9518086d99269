public import CompositeOperations

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

  /// Has something done when the run is cancelled, such as closing what the function reads from.
  ///
  /// The handler is called once, on the thread of whoever cancels, or at once if the run has been cancelled
  /// already; also where the function has ended, as long as somebody keeps the context.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    if !cancellation.keep(handler) { handler() }
  }

  func cancel() { cancellation.request() }

  private final class Cancellation: Sendable {
    private let handlers = Lock<[@Sendable () -> Void]?>([])

    var isRequested: Bool { handlers.withLock { $0 == nil } }

    /// - Returns: Whether there is still something to wait for.
    func keep(_ handler: @escaping @Sendable () -> Void) -> Bool {
      handlers.withLock { handlers in
        handlers?.append(handler)
        return handlers != nil
      }
    }

    func request() {
      let handlers = handlers.withLock { handlers in
        defer { handlers = nil }
        return handlers
      }
      // Not under the lock: they are code of others.
      for handler in handlers ?? [] { handler() }
    }
  }
}
