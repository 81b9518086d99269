internal import CompositeOperations
internal import Foundation

/// One run of a `Foundation.Operation` in a queue.
final class LegacyRun<Success: Sendable>: Sendable {
  private let legacy: Foundation.Operation
  private let queue: OperationQueue
  private let result: @Sendable () throws -> Success

  /// - Parameter result: Returns the result after the operation has finished.
  init(
    of legacy: Foundation.Operation, in queue: OperationQueue?,
    result: @escaping @Sendable () throws -> Success
  ) {
    self.legacy = legacy
    self.queue = queue ?? .composites
    self.result = result
  }

  /// Adds the operation to its queue and waits for the end.
  func success() async throws -> Success {
    if legacy.isFinished || legacy.isExecuting {
      throw FoundationOperationError(operation: "\(legacy)")
    }
    let ending = LegacyEnding()
    watch(for: ending)
    if Task.isCancelled { legacy.cancel() }
    // Even if it is cancelled: the queue then finishes it, so that its dependents can begin. Some
    // operations finish themselves when they are cancelled, and no queue accepts those. So nothing
    // may cancel it between this check and the next line.
    if !legacy.isFinished { queue.addOperation(legacy) }
    await withTaskCancellationHandler {
      await ending.wait()
    } onCancel: {
      if !legacy.isCancelled { legacy.cancel() }
      // An operation that waits in its queue may wait for long, and will not run any more.
      if !legacy.isExecuting && !legacy.isFinished { ending.giveUp() }
    }
    if ending.isGivenUp || legacy.isCancelled { throw CancellationError() }
    return try result()
  }

  /// Notifies the ending when the operation has finished and its completion block has returned.
  private func watch(for ending: LegacyEnding) {
    let token = LegacyEnding.BlockToken(ending)
    legacy.completionBlock = { [own = legacy.completionBlock] in
      own?()
      token.hasReturned()
    }
    // The block alone is not enough, because the operation may get another one.
    let end = BlockOperation { ending.came(.finish) }
    end.addDependency(legacy)
    // Not in the queue of the operation, which may be suspended.
    OperationQueue.endings.addOperation(end)
  }
}

/// The end of a `Foundation.Operation`, and its waiter.
private final class LegacyEnding: Sendable {
  /// The parts of an end.
  struct Part: OptionSet, Sendable {
    let rawValue: Int

    static let finish = Part(rawValue: 1)
    static let block = Part(rawValue: 2)
    static let all: Part = [.finish, .block]
  }

  private struct State: Sendable {
    var parts: Part = []
    var isGivenUp = false
    var waiter: CheckedContinuation<Void, Never>?

    var isOver: Bool { isGivenUp || parts == .all }

    /// - Returns: The waiter to resume, if it is over; only once.
    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      isOver ? waiter.take() : nil
    }
  }

  private let state = Lock(State())

  var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

  func wait() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        state.waiter = continuation
        return state.takeWaiter()
      }?.resume()
    }
  }

  func came(_ part: Part) {
    state.withLock { state in
      state.parts.insert(part)
      return state.takeWaiter()
    }?.resume()
  }

  /// Ends the wait before the operation has ended.
  func giveUp() {
    state.withLock { state in
      if !state.isOver { state.isGivenUp = true }
      return state.takeWaiter()
    }?.resume()
  }

  /// Held by the completion block. If it is freed before the block has returned, another block has
  /// replaced that one.
  final class BlockToken: Sendable {
    private let ending: LegacyEnding

    init(_ ending: LegacyEnding) { self.ending = ending }
    deinit { ending.came(.block) }

    func hasReturned() { ending.came(.block) }
  }
}

extension OperationQueue {
  /// The default queue.
  fileprivate static let composites = named("CompositeOperations")

  /// The queue for the operations that notify endings.
  fileprivate static let endings = named("CompositeOperations: ends")

  private static func named(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }
}
