public import CompositeOperations
public import Dispatch

/// An operation of a function that blocks its thread: a system call, an old library, a long computation.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let text = BlockingOperation { try String(contentsOfFile: "/etc/services", encoding: .utf8) }
/// let outcome = await text.run()
/// ```
///
/// It runs on a thread that may wait. The threads of Swift's tasks, of which there are as many as processors,
/// may not: where all of them wait, no task of the process goes on.
///
/// A function whose run is cancelled before it has begun is not called. Where it waits for a thread or for a queue,
/// the run ends at once; where it waits for an actor or an executor, when its turn comes. One that runs is waited
/// for; a function that can stop is given a ``BlockingContext``, which tells it:
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let sum = BlockingOperation { context in
///   var sum = 0
///   for number in 1...1_000_000 {
///     try context.checkCancellation()
///     sum += number
///   }
///   return sum
/// }
/// ```
public struct BlockingOperation<Success: Sendable>: ComposableOperation {
  private let place: BlockingPlace
  private let body: @Sendable (BlockingContext) throws -> Success

  /// - Parameters:
  ///   - place: Where the function runs.
  ///   - body: The function.
  public init(
    on place: BlockingPlace = .threads, _ body: @escaping @Sendable () throws -> Success
  ) {
    self.init(on: place) { _ in try body() }
  }

  /// - Parameters:
  ///   - place: Where the function runs.
  ///   - body: The function. It is told when it is to stop.
  public init(
    on place: BlockingPlace = .threads,
    _ body: @escaping @Sendable (BlockingContext) throws -> Success
  ) {
    self.place = place
    self.body = body
  }

  public func perform(in context: OperationContext) async throws -> Success {
    let blocking = BlockingContext(context)
    switch place.kind {
    case .threads(let threads):
      return try await queued(blocking) { function, fail in
        let ticket = threads.add(function, orFail: fail)
        return { threads.remove(ticket) }
      }
    case .queue(let queue):
      return try await queued(blocking) { function, _ in
        queue.async(execute: function)
        // Nothing can be taken out of it. What is left there is small, as the function is gone.
        return {}
      }
    case .actor(let actor):
      return try await withTaskCancellationHandler {
        try await perform(in: blocking, isolatedTo: actor)
      } onCancel: {
        blocking.cancel()
      }
    case .executor(let executor):
      return try await withTaskCancellationHandler {
        try await withTaskExecutorPreference(executor) { try await performHere(in: blocking) }
      } onCancel: {
        blocking.cancel()
      }
    }
  }

  private typealias Call = @Sendable () -> Void
  private typealias Fail = @Sendable (BlockingThreadsError) -> Void

  /// - Parameter add: Has a function called some time on another thread, and gives what takes it back.
  private func queued(
    _ blocking: BlockingContext, add: @escaping @Sendable (@escaping Call, @escaping Fail) -> Call
  ) async throws -> Success {
    let body = Lock(Optional(body))
    let operation = SimpleOperation<Success>.withCallback { finish in
      let remove = Lock<Call?>(nil)
      finish.onCancel {
        blocking.cancel()
        // Whoever takes the function decides: it may wait behind others for long.
        let waiting = body.withLock { $0.take() }
        guard waiting != nil else { return }
        remove.withLock(\.self)?()
        finish(.cancelled)
      }
      let added = add {
        let own = body.withLock { $0.take() }
        guard let own else { return }
        finish(Outcome(Result { try own(blocking) }))
      } _: { error in
        let waiting = body.withLock { $0.take() }
        if waiting != nil { finish(.error(error)) }
      }
      remove.withLock { $0 = added }
      // Whoever has cancelled it meanwhile found nothing to take back.
      if blocking.isCancelled { added() }
    }
    return try await operation.perform(in: blocking.operation)
  }

  private func perform(
    in blocking: BlockingContext, isolatedTo actor: isolated any Actor
  ) async throws -> Success {
    // It may have been cancelled while the actor was busy.
    try blocking.checkCancellation()
    return try body(blocking)
  }

  @concurrent private func performHere(in blocking: BlockingContext) async throws -> Success {
    try blocking.checkCancellation()
    return try body(blocking)
  }
}

/// Where the function of a ``BlockingOperation`` runs.
public struct BlockingPlace: Sendable {
  enum Kind: Sendable {
    case threads(BlockingThreads)
    case queue(DispatchQueue)
    case actor(any Actor)
    case executor(any TaskExecutor)
  }

  let kind: Kind

  /// The threads that all share who name no others: ``BlockingThreads/shared``.
  public static var threads: BlockingPlace { .threads(.shared) }

  /// Threads of one's own, for what must not wait behind others.
  public static func threads(_ threads: BlockingThreads) -> BlockingPlace {
    BlockingPlace(kind: .threads(threads))
  }

  /// A queue of Dispatch.
  public static func queue(_ queue: DispatchQueue) -> BlockingPlace {
    BlockingPlace(kind: .queue(queue))
  }

  /// The executor of an actor, alone with what else it does. Unless it has threads of its own, functions that
  /// block for long do not belong there.
  public static func actor(_ actor: any Actor) -> BlockingPlace {
    BlockingPlace(kind: .actor(actor))
  }

  /// An executor of tasks.
  public static func executor(_ executor: any TaskExecutor) -> BlockingPlace {
    BlockingPlace(kind: .executor(executor))
  }
}
