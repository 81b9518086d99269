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
/// It is for a queue that cannot go yet. It has dependencies, priorities, a quality of service and a completion
/// block like any other of its kind, and ends when the run has ended, with an ``outcome``. As any other it runs
/// once; what it was made from can be run as often as somebody likes.
///
/// A queue knows no errors: what depends on it begins also when it has failed or was cancelled. Ask
/// ``outcome`` there.
// Sendable, because what changes is behind a lock, and Foundation guards its own.
public final class QueueOperation<Success: Sendable>: Foundation.Operation, @unchecked Sendable {
  private enum State: Sendable {
    case waiting(@Sendable () async -> Outcome<Success>)
    case running(Task<Void, Never>)
    case finished(Outcome<Success>)
  }

  private let state: Lock<State>

  /// - Parameters:
  ///   - operation: What it runs.
  ///   - environment: Where it runs. Its observers see the run as an outermost one.
  public init(
    _ operation: some ComposableOperation<Success>,
    in environment: OperationEnvironment = OperationEnvironment()
  ) {
    state = Lock(.waiting { await operation.run(in: environment) })
    super.init()
    name = operation.operationName
  }

  /// How it has ended; nil until then. It is there before anybody is told that this has finished.
  public var outcome: Outcome<Success>? {
    if case .finished(let outcome) = state.withLock(\.self) { outcome } else { nil }
  }

  // MARK: What a queue asks

  /// Always true: it goes on after ``start()`` has returned.
  public override var isAsynchronous: Bool { true }

  /// Whether it has begun and not finished.
  public override var isExecuting: Bool {
    if case .running = state.withLock(\.self) { true } else { false }
  }

  /// Whether there is an ``outcome``.
  public override var isFinished: Bool { outcome != nil }

  // MARK: What a queue does

  /// Begins the run, at the priority that its quality of service stands for, or else that of its queue. A queue
  /// calls it.
  ///
  /// - Precondition: It has not begun.
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
      // Under the lock, so that a body that cancels this finds its task. No code but the system's is called.
      state = .running(
        UnstructuredTasks.start(on: nil, at: priority) { self.finish(await run()) })
    }
    didChangeValue(for: \.isExecuting)
    // Whoever has cancelled it meanwhile found nothing to cancel.
    if isCancelled { cancelRun() }
  }

  /// Cancels it. One that runs ends as soon as its body returns, as cancelled; one that has not begun will not.
  public override func cancel() {
    super.cancel()
    cancelRun()
  }

  private func cancelRun() {
    // Not under the lock: it calls handlers of others.
    if case .running(let task) = state.withLock(\.self) { task.cancel() }
  }

  private func finish(_ outcome: Outcome<Success>) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    // The operation that it was made from is freed outside the lock.
    _ = state.withLock { exchange(&$0, with: .finished(outcome)) }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

extension OperationQueue {
  /// Adds a composable operation to the queue.
  ///
  /// - Parameters:
  ///   - operation: What is to be run.
  ///   - environment: Where it runs.
  /// - Returns: What the queue has got, for its outcome. What it depends on cannot be said any more: make a
  ///   ``QueueOperation`` for that.
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
