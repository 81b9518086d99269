internal import CompositeOperations
internal import Foundation

/// One `Foundation.Operation` on its way through a queue.
final class LegacyRun<Success: Sendable>: Sendable {
  private let legacy: Foundation.Operation
  private let queue: OperationQueue
  private let result: @Sendable () throws -> Success
  private let ending = Ending()

  /// - Parameter result: What the run comes to when it has finished.
  init(
    of legacy: Foundation.Operation, in queue: OperationQueue?,
    result: @escaping @Sendable () throws -> Success
  ) {
    self.legacy = legacy
    self.queue = queue ?? .composites
    self.result = result
  }

  /// Waits for the end.
  func success() async throws -> Success {
    if legacy.isFinished || legacy.isExecuting {
      throw FoundationOperationError(operation: "\(legacy)")
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard ending.wait(continuation) else { return }
        legacy.completionBlock = { [ending, own = legacy.completionBlock] in
          own?()
          ending.came()
        }
        queue.addOperation(legacy)
      }
    } onCancel: {
      legacy.cancel()
      // One that waits for room in its queue may wait for long, and will not run any more.
      if !legacy.isExecuting { ending.came() }
    }
    if legacy.isCancelled { throw CancellationError() }
    return try result()
  }

  /// Where the one who waits and the end meet.
  private final class Ending: Sendable {
    private enum State: Sendable {
      case begun
      case waiting(CheckedContinuation<Void, Never>)
      case over
    }

    private let state = Lock(State.begun)

    /// - Returns: Whether the end is still to come. If not, whoever waits has been told.
    func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
      let isOver = state.withLock { state in
        if case .over = state { return true }
        state = .waiting(continuation)
        return false
      }
      if isOver { continuation.resume() }
      return !isOver
    }

    func came() {
      let before = state.withLock { state in
        defer { state = .over }
        return state
      }
      if case .waiting(let continuation) = before { continuation.resume() }
    }
  }
}

extension OperationQueue {
  /// For those that name no queue.
  fileprivate static let composites: OperationQueue = {
    let queue = OperationQueue()
    queue.name = "CompositeOperations"
    return queue
  }()
}
