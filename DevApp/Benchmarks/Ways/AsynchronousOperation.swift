import Foundation
import Synchronization

/// A subclass of `Foundation.Operation` for asynchronous work. It ends when ``finish()`` is called.
// Sendable: the state is guarded, and all other properties are constant.
final class AsynchronousOperation: Foundation.Operation, @unchecked Sendable {
  private enum State { case ready, executing, finished }

  private let state = Mutex(State.ready)
  private let begin: @Sendable (AsynchronousOperation) -> Void
  private let stop: (@Sendable (AsynchronousOperation) -> Void)?

  /// - Parameters:
  ///   - stop: Stops work that has begun, on a cancellation.
  ///   - begin: Starts the work, which calls ``finish()`` at its end.
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
