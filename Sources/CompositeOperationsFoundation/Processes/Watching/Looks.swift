/// Moments to look at something that nobody tells of: soon at first, and then ever more seldom.
struct Looks {
  typealias Moment = SuspendingClock.Instant

  /// When to look next.
  private(set) var next: Moment
  private var pause = Duration.milliseconds(1)

  /// - Parameter first: The first look.
  init(from first: Moment) { next = first }

  mutating func lookedInVain(at now: Moment) {
    next = now.advanced(by: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}
