public import CompositeOperations
public import Foundation

/// A `Foundation.Operation` that runs a composable operation.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let queue = OperationQueue()
/// let login = BlockOperation { print("Welcome") }
/// let fetch = QueueOperation(FetchUser())
/// fetch.addDependency(login)
/// fetch.completionBlock = { [unowned fetch] in print(fetch.outcome?.result?.name ?? "nobody") }
/// for operation in [login, fetch] { queue.addOperation(operation) }
/// ```
///
/// Use it with an `OperationQueue` that cannot be replaced yet. It supports dependencies,
/// priorities, a quality of service and a completion block like any `Foundation.Operation`. It
/// finishes when the run has ended, with an ``outcome``. It runs only once; the composable
/// operation that it was created from can run any number of times.
///
/// An `OperationQueue` does not know errors: dependents begin even if this operation failed or was
/// cancelled. Check its ``outcome`` in them.
// Sendable: a lock guards the mutable state, and Foundation guards its own.
public final class QueueOperation<Success: Sendable>: Foundation.Operation, @unchecked Sendable {
  private enum State: Sendable {
    case waiting(@Sendable () async -> Outcome<Success>)
    case running(Task<Void, Never>)
    case finished(Outcome<Success>)
  }

  private let state: Lock<State>

  /// Creates a `Foundation.Operation` that runs a composable operation.
  ///
  /// - Parameters:
  ///   - operation: The operation to run.
  ///   - environment: The environment of the run. Its observers see the run as an outermost one.
  public init(
    _ operation: some ComposableOperation<Success>,
    in environment: OperationEnvironment = OperationEnvironment()
  ) {
    state = Lock(.waiting { await operation.run(in: environment) })
    super.init()
    name = operation.operationName
  }

  /// The outcome of the run; nil until it has ended. It is set before the operation is reported as
  /// finished.
  public var outcome: Outcome<Success>? {
    if case .finished(let outcome) = state.withLock(\.self) { outcome } else { nil }
  }

  // MARK: State

  /// Always true: the run continues after ``start()`` has returned.
  public override var isAsynchronous: Bool { true }

  /// Whether the run has begun and has not ended.
  public override var isExecuting: Bool {
    if case .running = state.withLock(\.self) { true } else { false }
  }

  /// Whether there is an ``outcome``.
  public override var isFinished: Bool { outcome != nil }

  // MARK: Execution

  /// Starts the run. A queue calls this method.
  ///
  /// The quality of service of this operation determines the priority of the run; if there is none,
  /// the quality of service of the queue does.
  ///
  /// - Precondition: The operation has not been started.
  public override func start() {
    if isCancelled { return finish(.cancelled) }
    willChangeValue(for: \.isExecuting)
    let priority =
      TaskPriority(qualityOfService)
      ?? OperationQueue.current.flatMap { TaskPriority($0.qualityOfService) }
    state.withLock { state in
      guard case .waiting(let run) = state else {
        preconditionFailure("\(self) was started twice; a QueueOperation runs only once")
      }
      // Under the lock, so that a body that cancels this operation finds its task. Only system code
      // is called.
      state = .running(
        UnstructuredTasks.start(on: nil, at: priority) { self.finish(await run()) })
    }
    didChangeValue(for: \.isExecuting)
    // A cancellation before the task was stored found nothing to cancel.
    if isCancelled { cancelRun() }
  }

  /// Cancels the operation.
  ///
  /// If it runs, it ends as cancelled as soon as its body returns. If it has not begun, its body
  /// does not run.
  public override func cancel() {
    super.cancel()
    cancelRun()
  }

  private func cancelRun() {
    // Not under the lock: this calls cancellation handlers, which are user code.
    if case .running(let task) = state.withLock(\.self) { task.cancel() }
  }

  private func finish(_ outcome: Outcome<Success>) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    // The composable operation is freed outside the lock.
    _ = state.withLock { exchange(&$0, with: .finished(outcome)) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

extension OperationQueue {
  /// Adds a composable operation to the queue.
  ///
  /// To add dependencies, create a ``QueueOperation`` and add that instead.
  ///
  /// - Parameters:
  ///   - operation: The operation to run.
  ///   - environment: The environment of the run.
  /// - Returns: The `Foundation.Operation` in the queue, for its outcome.
  @discardableResult public func addOperation<Success: Sendable>(
    _ operation: some ComposableOperation<Success>,
    in environment: OperationEnvironment = OperationEnvironment()
  ) -> QueueOperation<Success> {
    let queued = QueueOperation(operation, in: environment)
    addOperation(queued)
    return queued
  }
}

extension TaskPriority {
  fileprivate init?(_ service: QualityOfService) {
    switch service {
    case .userInteractive, .userInitiated: self = .userInitiated
    case .utility: self = .utility
    case .background: self = .background
    default: return nil
    }
  }
}
