internal import ThreadSupport

/// Threads for user code that is due at a deadline, such as the cancellation handlers of an
/// operation whose time is over.
///
/// Such code cannot run on the timer's thread, which serves the whole process. It cannot wait for a
/// thread of Swift's pool either, because the operation itself may occupy it. One thread is enough
/// as long as handlers return soon. When a handler has waited for a millisecond, another thread
/// starts.
final class HandlerThreads: Sendable {
  static let shared = HandlerThreads(timer: .shared, startingThreadsBy: SystemThread.start)

  typealias Handler = @Sendable () -> Void

  private let state = ConditionLock(State())
  private let timer: DeadlineTimer
  private let startThread: DeadlineTimer.ThreadStart

  init(timer: DeadlineTimer, startingThreadsBy startThread: @escaping DeadlineTimer.ThreadStart) {
    self.timer = timer
    self.startThread = startThread
  }

  /// Runs a handler soon, on one of the threads.
  func run(_ handler: @escaping Handler) { perform(state.withLock { $0.added(handler) }) }

  private func perform(_ action: State.Action) {
    switch action {
    case .none: break
    case .wake: state.signal()
    case .start: if !startThread({ self.work() }) { workWithoutThread() }
    case .startTask: workWithoutThread()
    case .watch:
      timer.add(
        Relief(of: self), at: EventTime.now.advanced(byNanoseconds: State.longestQueueTime))
    }
  }

  private func work() {
    var idleSince: Int64?
    while let handler = state.waiting({ $0.looked(at: MonotonicTime.now, idleSince: &idleSince) }) {
      withReleasePool(handler)
    }
  }

  /// Used when the system starts no thread, or when there are as many threads as allowed.
  private func workWithoutThread() {
    _ = UnstructuredTasks.start(on: nil) { [self] in
      while let handler = state.withLock({ $0.lookedWithoutThread() }) { handler() }
    }
  }

  /// Checks whether handlers have waited for too long.
  private final class Relief: Deadline, @unchecked Sendable {
    private let threads: HandlerThreads

    init(of threads: HandlerThreads) { self.threads = threads }

    override func reached() {
      threads.perform(threads.state.withLock { $0.relieved() })
      threads.perform(threads.state.withLock { $0.lookedAfterRelief() })
    }
  }
}

extension HandlerThreads {
  struct State: Sendable {
    enum Action: Sendable {
      case none, wake, start
      /// As a task of Swift's pool.
      case startTask
      /// Check again after ``longestQueueTime``.
      case watch
    }

    /// How long a handler waits for the existing threads before another one starts, in nanoseconds.
    static let longestQueueTime: Int64 = 1_000_000
    /// How long a thread beyond the first stays without work, in nanoseconds.
    private static let idleTime: Int64 = 10_000_000_000
    private static let mostThreads = 64

    private var waiting = FIFOQueue<Handler>()
    private var threadCount = 0
    private var idleCount = 0
    private var isWatched = false

    mutating func added(_ handler: @escaping Handler) -> Action {
      waiting.append(handler)
      if waiting.count <= idleCount { return .wake }
      if threadCount == 0 { return started() }
      return watched()
    }

    private mutating func started() -> Action {
      threadCount += 1
      return threadCount <= Self.mostThreads ? .start : .startTask
    }

    private mutating func watched() -> Action {
      if isWatched { return .none }
      isWatched = true
      return .watch
    }

    /// Handlers may have waited for ``longestQueueTime``.
    mutating func relieved() -> Action {
      isWatched = false
      return waiting.count > idleCount ? started() : .none
    }

    mutating func lookedAfterRelief() -> Action { waiting.count > idleCount ? watched() : .none }

    /// - Parameter idleSince: When the calling thread became idle; nil if it has just run a
    ///   handler.
    mutating func looked(
      at now: Int64, idleSince: inout Int64?
    ) -> ConditionLock<State>.Decision<Handler?> {
      if let handler = waiting.popFirst() {
        if idleSince.take() != nil { idleCount -= 1 }
        return .leave(handler)
      }
      if idleSince == nil { idleCount += 1 }
      let start = idleSince ?? now
      idleSince = start
      if threadCount == 1 { return .wait(atMost: .max) }
      guard now - start < Self.idleTime else {
        idleCount -= 1
        threadCount -= 1
        return .leave(nil)
      }
      return .wait(atMost: start + Self.idleTime - now)
    }

    mutating func lookedWithoutThread() -> Handler? {
      guard let handler = waiting.popFirst() else {
        threadCount -= 1
        return nil
      }
      return handler
    }
  }
}

#if canImport(ObjectiveC)
  internal import ObjectiveC
#endif

/// Calls user code on a thread of the package, inside an autorelease pool on platforms that have
/// them.
func withReleasePool(_ body: () -> Void) {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}

/// An executor that runs jobs on the ``HandlerThreads``.
///
/// For tasks that sleep on a custom clock and must continue while operations occupy every thread of
/// Swift's pool.
final class HandlerExecutor: TaskExecutor {
  static let shared = HandlerExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Valid, because the executor is never freed; and each job is run once.
    HandlerThreads.shared.run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
