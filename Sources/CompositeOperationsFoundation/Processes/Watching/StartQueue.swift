/// The programs that have not been started, in FIFO order.
struct StartQueue {
  struct PendingStart {
    let child: ChildProcess
    /// The schedule of the next attempts, if they may help; nil before the first attempt.
    var polling: PollSchedule?
    var retryDeadline: PollSchedule.Instant?
  }

  /// How long the start is retried. Between its fork and its exec, a program keeps inherited
  /// descriptors open, and on a busy machine that takes some time.
  private static let retryDuration = Duration.seconds(1)

  private var starts: [UInt64: PendingStart] = [:]
  private var next: UInt64 = 1
  private var last: UInt64 = 0

  /// Whether a program can be started now.
  var isReady: Bool { next <= last }

  /// - Returns: The number that identifies the program from now on.
  mutating func append(_ child: ChildProcess) -> UInt64 {
    last += 1
    starts[last] = PendingStart(child: child)
    return last
  }

  mutating func remove(_ identifier: UInt64) -> PendingStart? {
    starts.removeValue(forKey: identifier)
  }

  /// The first program that has not been tried.
  mutating func popFirst() -> (UInt64, PendingStart)? {
    while isReady {
      let identifier = next
      next += 1
      if let start = starts.removeValue(forKey: identifier) { return (identifier, start) }
    }
    return nil
  }

  /// Keeps a program for another attempt.
  ///
  /// - Returns: The time of that attempt; nil if the time for attempts is over.
  mutating func postpone(
    _ start: PendingStart, _ identifier: UInt64, at now: PollSchedule.Instant
  ) -> PollSchedule.Instant? {
    let retryDeadline = start.retryDeadline ?? now.advanced(by: Self.retryDuration)
    if now >= retryDeadline { return nil }
    var polling = start.polling ?? PollSchedule(from: now)
    polling.pollFailed(at: now)
    starts[identifier] = PendingStart(
      child: start.child, polling: polling, retryDeadline: retryDeadline)
    return polling.nextPoll
  }
}
