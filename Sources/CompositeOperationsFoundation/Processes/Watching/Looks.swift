/// A schedule for polling: frequent at first, and then less and less.
struct Looks {
  typealias Moment = SuspendingClock.Instant

  /// The time of the next poll.
  private(set) var next: Moment
  private var pause = Duration.milliseconds(1)

  /// - Parameter first: The time of the first poll.
  init(from first: Moment) { next = first }

  mutating func lookedInVain(at now: Moment) {
    next = now.advanced(by: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}
