internal import CompositeOperations
internal import Foundation

/// One `Foundation.Operation` on its way through a queue.
final class LegacyRun<Success: Sendable>: Sendable {
  private let legacy: Foundation.Operation
  private let queue: OperationQueue
  private let result: @Sendable () throws -> Success

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
    let ending = LegacyEnding()
    watch(for: ending)
    if Task.isCancelled { legacy.cancel() }
    // Also one that is cancelled: its queue finishes it, and lets go on what depends on it. Some finish themselves,
    // and those no queue takes, which is why nobody cancels between this question and the next line.
    if !legacy.isFinished { queue.addOperation(legacy) }
    await withTaskCancellationHandler {
      await ending.wait()
    } onCancel: {
      if !legacy.isCancelled { legacy.cancel() }
      // One that waits for room in its queue may wait for long, and will not run any more.
      if !legacy.isExecuting && !legacy.isFinished { ending.giveUp() }
    }
    if ending.isGivenUp || legacy.isCancelled { throw CancellationError() }
    return try result()
  }

  /// Has the ending told when the operation has finished and its completion block has returned.
  private func watch(for ending: LegacyEnding) {
    let token = LegacyEnding.BlockToken(ending)
    legacy.completionBlock = { [own = legacy.completionBlock] in
      own?()
      token.hasReturned()
    }
    // The block alone would not do: the operation may be given another one.
    let end = BlockOperation { ending.came(.finish) }
    end.addDependency(legacy)
    // Not in a queue that somebody may suspend.
    OperationQueue.endings.addOperation(end)
  }
}

/// Where the one who waits for a `Foundation.Operation` and its end meet.
private final class LegacyEnding: Sendable {
  /// What an end consists of.
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

    /// - Returns: Who is to be told that it is over, once.
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

  /// Nobody waits any longer.
  func giveUp() {
    state.withLock { state in
      if !state.isOver { state.isGivenUp = true }
      return state.takeWaiter()
    }?.resume()
  }

  /// What a completion block keeps: if it goes away before the block has returned, another one took its place.
  final class BlockToken: Sendable {
    private let ending: LegacyEnding

    init(_ ending: LegacyEnding) { self.ending = ending }
    deinit { ending.came(.block) }

    func hasReturned() { ending.came(.block) }
  }
}

extension OperationQueue {
  /// For those that name no queue.
  fileprivate static let composites = named("CompositeOperations")

  /// For what tells of ends.
  fileprivate static let endings = named("CompositeOperations: ends")

  private static func named(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }
}
