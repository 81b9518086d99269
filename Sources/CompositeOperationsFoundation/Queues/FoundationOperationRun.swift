internal import CompositeOperations
internal import Foundation

/// One run of a `Foundation.Operation` in a queue.
final class FoundationOperationRun<Success: Sendable>: Sendable {
  private let operation: Foundation.Operation
  private let queue: OperationQueue
  private let result: @Sendable () throws -> Success

  /// - Parameter result: Returns the result after the operation has finished.
  init(
    of operation: Foundation.Operation, in queue: OperationQueue?,
    result: @escaping @Sendable () throws -> Success
  ) {
    self.operation = operation
    self.queue = queue ?? .composites
    self.result = result
  }

  /// Adds the operation to its queue and waits for the end.
  func success() async throws -> Success {
    if operation.isFinished || operation.isExecuting {
      throw FoundationOperationError(operation: "\(operation)")
    }
    let completion = FoundationOperationCompletion()
    watch(for: completion)
    if Task.isCancelled { operation.cancel() }
    // Even if it is cancelled: the queue then finishes it, so that its dependents can begin. Some
    // operations finish themselves when they are cancelled, and no queue accepts those. So nothing
    // may cancel it between this check and the next line.
    if !operation.isFinished { queue.addOperation(operation) }
    await withTaskCancellationHandler {
      await completion.wait()
    } onCancel: {
      if !operation.isCancelled { operation.cancel() }
      // An operation that waits in its queue may wait for long, and will not run any more.
      if !operation.isExecuting && !operation.isFinished { completion.abandon() }
    }
    if completion.isAbandoned || operation.isCancelled { throw CancellationError() }
    return try result()
  }

  /// Records in `completion` when the operation has finished, and when its completion block has
  /// returned.
  private func watch(for completion: FoundationOperationCompletion) {
    let token = FoundationOperationCompletion.BlockToken(completion)
    operation.completionBlock = { [own = operation.completionBlock] in
      own?()
      token.hasReturned()
    }
    // The block alone is not enough, because the operation may get another one.
    let end = BlockOperation { completion.record(.finish) }
    end.addDependency(operation)
    // Not in the queue of the operation, which may be suspended.
    OperationQueue.completions.addOperation(end)
  }
}

/// The completion of a `Foundation.Operation`, and its waiter.
private final class FoundationOperationCompletion: Sendable {
  /// The parts of a completion.
  struct Part: OptionSet, Sendable {
    let rawValue: Int

    static let finish = Part(rawValue: 1)
    static let block = Part(rawValue: 2)
    static let all: Part = [.finish, .block]
  }

  private struct State: Sendable {
    var parts: Part = []
    var isAbandoned = false
    var waiter: CheckedContinuation<Void, Never>?

    var isComplete: Bool { isAbandoned || parts == .all }

    /// - Returns: The waiter to resume, if it is complete; only once.
    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      isComplete ? waiter.take() : nil
    }
  }

  private let state = Lock(State())

  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  func wait() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        state.waiter = continuation
        return state.takeWaiter()
      }?.resume()
    }
  }

  func record(_ part: Part) {
    state.withLock { state in
      state.parts.insert(part)
      return state.takeWaiter()
    }?.resume()
  }

  /// Ends the wait before the operation has ended.
  func abandon() {
    state.withLock { state in
      if !state.isComplete { state.isAbandoned = true }
      return state.takeWaiter()
    }?.resume()
  }

  /// Held by the completion block. If it is freed before the block has returned, another block has
  /// replaced that one.
  final class BlockToken: Sendable {
    private let completion: FoundationOperationCompletion

    init(_ completion: FoundationOperationCompletion) { self.completion = completion }
    deinit { completion.record(.block) }

    func hasReturned() { completion.record(.block) }
  }
}

extension OperationQueue {
  /// The default queue.
  fileprivate static let composites = named("CompositeOperations")

  /// The queue for the operations that report completions.
  fileprivate static let completions = named("CompositeOperations: completions")

  private static func named(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }
}
