public import CompositeOperations
public import Dispatch

/// An operation that runs a blocking function: a system call, an old library, a long computation.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let text = BlockingOperation { try String(contentsOfFile: "/etc/services", encoding: .utf8) }
/// let outcome = await text.run()
/// ```
///
/// The function runs on a thread that may block. The threads of Swift's tasks must not block: there
/// are only as many as processors, and if all of them block, no task of the process makes progress.
///
/// The function has the task-local values of the run, and `Task.isCancelled` in it reports the
/// cancellation.
///
/// If the run is cancelled before the function has begun, the function is not called. A run that
/// waits for a thread or for a queue then ends at once; a run that waits for an actor or an
/// executor ends when its turn comes. If the function has begun, the run ends when it returns. A
/// function that can stop early takes a ``BlockingContext``, which reports the cancellation:
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

  /// Creates an operation that runs a function.
  ///
  /// - Parameters:
  ///   - place: The threads, queue, actor or executor that the function runs on.
  ///   - body: The blocking function.
  public init(
    on place: BlockingPlace = .threads, _ body: @escaping @Sendable () throws -> Success
  ) {
    self.init(on: place) { _ in try body() }
  }

  /// Creates an operation that runs a function which can stop when the run is cancelled.
  ///
  /// - Parameters:
  ///   - place: The threads, queue, actor or executor that the function runs on.
  ///   - body: The blocking function. Its context reports the cancellation.
  public init(
    on place: BlockingPlace = .threads,
    _ body: @escaping @Sendable (BlockingContext) throws -> Success
  ) {
    self.place = place
    self.body = body
  }

  /// Runs the function and returns its result.
  ///
  /// - Throws: The error of the function, `CancellationError` if the run is cancelled before the
  ///   function begins, and ``BlockingThreadsError`` if there is no thread and the system does not
  ///   create one.
  public func perform(in context: OperationContext) async throws -> Success {
    let blocking = BlockingContext(context)
    switch place.kind {
    case .threads(let threads):
      return try await inTask(blocking) { function, fail in
        let ticket = threads.add(function, orFail: fail)
        return { threads.remove(ticket) }
      }
    case .queue(let queue):
      return try await inTask(blocking) { function, _ in
        queue.async(execute: function)
        // Nothing can be removed from a queue. The task that remains is small, because the function
        // has been freed.
        return { false }
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

  private func inTask(
    _ blocking: BlockingContext, scheduling schedule: @escaping BlockingTask.Schedule
  ) async throws -> Success {
    let body = Lock(Optional(body))
    let operation = SimpleOperation<Success>.withCallback { finish in
      let task = BlockingTask(by: schedule) { error in
        let waiting = body.withLock { $0.take() }
        if waiting != nil { finish(.error(error)) }
      }
      let running = Lock<Task<Void, Never>?>(nil)
      finish.onCancel {
        blocking.cancel()
        running.withLock(\.self)?.cancel()
        // The function may wait for long, so the cancellation and the thread compete for it.
        let waiting = body.withLock { $0.take() }
        guard waiting != nil else { return }
        task.remove()
        finish(.cancelled)
      }
      let started = task.start {
        let own = body.withLock { $0.take() }
        guard let own else { return }
        let outcome = Outcome(Result { try own(blocking) })
        // The function may cancel its own task.
        if Task.isCancelled { blocking.cancel() }
        finish(outcome)
      }
      running.withLock { $0 = started }
      // A cancellation before that found no task.
      if blocking.isCancelled {
        started.cancel()
        task.remove()
      }
    }
    do {
      let result = try await operation.perform(in: blocking.operationContext)
      cancelOwnTask(ifCancelled: blocking)
      return result
    } catch {
      cancelOwnTask(ifCancelled: blocking)
      throw error
    }
  }

  /// Cancels the run if the function cancelled its task.
  private func cancelOwnTask(ifCancelled blocking: BlockingContext) {
    if blocking.isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
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

/// The place where the function of a ``BlockingOperation`` runs.
///
/// ```swift
/// import CompositeOperationsFoundation
///
/// let text = BlockingOperation(on: .queue(.global())) {
///   try String(contentsOfFile: "/etc/services", encoding: .utf8)
/// }
/// ```
public struct BlockingPlace: Sendable {
  enum Kind: Sendable {
    case threads(BlockingThreads)
    case queue(DispatchQueue)
    case actor(any Actor)
    case executor(any TaskExecutor)
  }

  let kind: Kind

  /// The shared threads, ``BlockingThreads/shared``. This is the default.
  public static var threads: BlockingPlace { .threads(.shared) }

  /// A separate pool, for functions that must not wait for others.
  public static func threads(_ threads: BlockingThreads) -> BlockingPlace {
    BlockingPlace(kind: .threads(threads))
  }

  /// A dispatch queue.
  public static func queue(_ queue: DispatchQueue) -> BlockingPlace {
    BlockingPlace(kind: .queue(queue))
  }

  /// The executor of an actor, isolated to that actor.
  ///
  /// Unless the executor has threads of its own, do not use it for functions that block for long.
  public static func actor(_ actor: any Actor) -> BlockingPlace {
    BlockingPlace(kind: .actor(actor))
  }

  /// A task executor.
  public static func executor(_ executor: any TaskExecutor) -> BlockingPlace {
    BlockingPlace(kind: .executor(executor))
  }
}
