import Foundation
import Synchronization

/// The subclass of `Foundation.Operation` that asynchronous work takes: it has ended when somebody
/// calls ``finish()``.
// Sendable: the state is guarded, and all else does not change.
final class AsynchronousOperation: Foundation.Operation, @unchecked Sendable {
  private enum State { case ready, executing, finished }

  private let state = Mutex(State.ready)
  private let begin: @Sendable (AsynchronousOperation) -> Void
  private let stop: (@Sendable (AsynchronousOperation) -> Void)?

  /// - Parameters:
  ///   - stop: What a cancellation does to work that has begun.
  ///   - begin: Begins the work, which calls ``finish()`` in the end.
  init(
    stop: (@Sendable (AsynchronousOperation) -> Void)? = nil,
    _ begin: @escaping @Sendable (AsynchronousOperation) -> Void
  ) {
    self.stop = stop
    self.begin = begin
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state.withLock { $0 == .executing } }
  override var isFinished: Bool { state.withLock { $0 == .finished } }

  override func start() {
    if isCancelled { return finish() }
    willChangeValue(for: \.isExecuting)
    state.withLock { $0 = .executing }
    didChangeValue(for: \.isExecuting)
    begin(self)
  }

  override func cancel() {
    super.cancel()
    stop?(self)
  }

  func finish() {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    state.withLock { $0 = .finished }
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}
