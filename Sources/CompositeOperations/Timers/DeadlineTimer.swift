/// Calls deadlines when their time has come.
///
/// One for the process, with a thread of its own, so that a deadline is reached also while operations occupy every
/// thread of Swift's pool. Adding and removing one takes a lock and O(log *n*); a removed one leaves nothing behind,
/// whereas a cancelled `Task.sleep` keeps 740 bytes until its time (Swift 6.3.1).
final class DeadlineTimer: Sendable {
  static let shared = DeadlineTimer(startingThreadsBy: SystemThread.start)

  /// Calls a function on a new thread, and tells whether there is one.
  typealias ThreadStart = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

  private let state = ConditionLock(State())
  private let startThread: ThreadStart

  init(startingThreadsBy startThread: @escaping ThreadStart) { self.startThread = startThread }

  /// How many deadlines are pending.
  var count: Int { state.withLock { $0.heap.count } }

  /// Adds a deadline.
  ///
  /// - Parameter time: When it is reached, by the clock of ``EventTime``, in nanoseconds.
  func add(_ deadline: Deadline, at time: Int64) {
    switch state.withLock({ $0.added(deadline, at: time) }) {
    case .none: break
    case .wake: state.signal()
    case .start:
      if !startThread({ self.run() }) { runWithoutThread() }
    }
  }

  /// Removes a deadline; one that has been reached, or was never added, stays as it is.
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

  /// The system made no thread: a task does the work as well as it can, until it makes one or there is no work left.
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

    /// A wait is never longer, because the thread's clock stands still while the machine sleeps, and that of the
    /// deadlines does not. In nanoseconds.
    private static let longestWait: Int64 = 10_000_000_000

    fileprivate(set) var heap = DeadlineHeap()
    private var isRunning = false
    /// When the thread looks next; before everything while it is not waiting.
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

    /// - Returns: Nil if no deadline is pending, and the one who asks ends.
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
  /// The moment that comes so long after this one, in nanoseconds; the last one that can be told if it is too far.
  func advanced(byNanoseconds delay: Int64) -> Int64 {
    let (time, isTooFar) = nanoseconds.addingReportingOverflow(delay)
    return isTooFar ? .max : time
  }
}
