/// A schedule for polling: every millisecond at first, and every 50 milliseconds at most.
struct PollSchedule {
  typealias Instant = SuspendingClock.Instant

  /// The time of the next poll.
  private(set) var nextPoll: Instant
  private var pause = Duration.milliseconds(1)

  /// - Parameter first: The time of the first poll.
  init(from first: Instant) { nextPoll = first }

  /// A poll had no result.
  mutating func pollFailed(at now: Instant) {
    nextPoll = now.advanced(by: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}
