internal import ThreadSupport

/// A timer that calls each deadline when its time is reached.
///
/// The process has one timer with a thread of its own, so that deadlines are met even while
/// operations occupy every thread of Swift's pool. Adding and removing a deadline takes a lock and
/// O(log *n*). A removed deadline uses no memory, whereas a cancelled `Task.sleep` keeps 740 bytes
/// until its time (Swift 6.3.1).
final class DeadlineTimer: Sendable {
  static let shared = DeadlineTimer(startingThreadsBy: SystemThread.start)

  /// Starts a thread that calls a function, and returns whether the system has started it.
  typealias ThreadStart = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

  private let state = ConditionLock(State())
  private let startThread: ThreadStart

  init(startingThreadsBy startThread: @escaping ThreadStart) { self.startThread = startThread }

  /// How many deadlines are pending.
  var count: Int { state.withLock { $0.heap.count } }

  /// Adds a deadline.
  ///
  /// - Parameter time: When it is reached, in nanoseconds on the clock of ``EventTime``.
  func add(_ deadline: Deadline, at time: Int64) {
    switch state.withLock({ $0.added(deadline, at: time) }) {
    case .none: break
    case .wake: state.signal()
    case .start:
      if !startThread({ self.run() }) { runWithoutThread() }
    }
  }

  /// Removes a deadline. Does nothing if it has been reached or was never added.
  func remove(_ deadline: Deadline) {
    // The reference is released here, outside the lock.
    _ = state.withLock { $0.heap.remove(deadline) }
  }

  private func run() {
    while true {
      Self.reach(state.waiting { $0.looked(at: EventTime.now.nanoseconds) })
    }
  }

  private static func reach(_ due: [Deadline]) {
    for deadline in due { deadline.reached() }
    let holding = due.filter(\.holdsUserValues)
    // A `deinit` is user code.
    if !holding.isEmpty { HandlerThreads.shared.run { withExtendedLifetime(holding) {} } }
  }

  /// Used when the system starts no thread: a task serves the deadlines until a thread can be
  /// started or no deadline is left.
  private func runWithoutThread() {
    _ = UnstructuredTasks.start(on: nil) { [self] in
      while let due = state.withLock({ $0.lookedWithoutThread(at: EventTime.now.nanoseconds) }) {
        Self.reach(due)
        if startThread({ self.run() }) { return }
        try? await Task.sleep(for: .milliseconds(1))
      }
    }
  }
}

extension DeadlineTimer {
  struct State: Sendable {
    enum Action: Sendable { case none, wake, start }

    /// The longest wait, in nanoseconds: the clock of the thread's wait stops while the machine
    /// sleeps, and the clock of the deadlines does not.
    private static let longestWait: Int64 = 10_000_000_000

    fileprivate(set) var heap = DeadlineHeap()
    private var isRunning = false
    /// When the waiting thread checks next; `Int64.min` while it is not waiting.
    private var nextLook = Int64.min

    mutating func added(_ deadline: Deadline, at time: Int64) -> Action {
      heap.insert(deadline, at: time)
      if !isRunning {
        isRunning = true
        return .start
      }
      guard time < nextLook else { return .none }
      nextLook = .min
      return .wake
    }

    mutating func looked(at now: Int64) -> ConditionLock<State>.Decision<[Deadline]> {
      let due = removeDue(at: now)
      nextLook = .min
      if !due.isEmpty { return .leave(due) }
      guard let earliest = heap.earliest else {
        nextLook = .max
        return .wait(atMost: .max)
      }
      let wait = min(earliest - now, Self.longestWait)
      nextLook = now + wait
      return .wait(atMost: wait)
    }

    /// - Returns: Nil if no deadline is pending, so that the calling task ends.
    mutating func lookedWithoutThread(at now: Int64) -> [Deadline]? {
      if heap.count == 0 {
        isRunning = false
        return nil
      }
      return removeDue(at: now)
    }

    private mutating func removeDue(at now: Int64) -> [Deadline] {
      var due: [Deadline] = []
      while let deadline = heap.removeFirst(at: now) { due.append(deadline) }
      return due
    }
  }
}

extension EventTime {
  /// This time plus a delay, in nanoseconds; `Int64.max` on overflow.
  func advanced(byNanoseconds delay: Int64) -> Int64 {
    let (time, isTooFar) = nanoseconds.addingReportingOverflow(delay)
    return isTooFar ? .max : time
  }
}
