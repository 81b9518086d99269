internal import ThreadSupport

/// A deadline on a clock: a closure that sleeps until the deadline, and a closure that returns
/// whether it has passed.
@usableFromInline struct ClockAlarm: Sendable {
  let sleep: @Sendable () async throws -> Void
  let hasPassed: @Sendable () -> Bool

  /// Creates a deadline at the instant `moment` of a clock.
  init<Time: Clock>(_ moment: Time.Instant, on clock: Time) where Time.Duration == Duration {
    sleep = { try await clock.wait(until: moment) }
    hasPassed = { clock.now >= moment }
  }

  /// Creates a deadline that a clock reaches after a delay from now.
  init(in delay: Duration, by clock: some Clock<Duration>) {
    // At most about a century: a clock may not be able to represent much later instants.
    self.init(clock.now.advanced(by: min(delay, .seconds(3_000_000_000))), on: clock)
  }
}

/// A time limit and the clock that measures it.
@usableFromInline struct TimeLimit: Sendable {
  /// The limit, as errors show it.
  @usableFromInline let duration: Duration
  /// The limit for the process's timer, in nanoseconds; at least 1 if the duration is positive.
  @usableFromInline let nanoseconds: Int64
  /// The deadline on a clock of the user; nil if the process's timer measures the limit.
  let alarm: ClockAlarm?

  /// Creates a limit that begins now.
  ///
  /// - Parameters:
  ///   - duration: The limit.
  ///   - clock: The clock that measures the limit; nil for the process's timer.
  init(_ duration: Duration, by clock: (any Clock<Duration>)?) {
    self.duration = duration
    nanoseconds = duration.wholeNanoseconds
    alarm = clock.map { ClockAlarm(in: duration, by: $0) }
  }

  /// Creates a limit that ends at the instant `moment` of a clock.
  init<Time: Clock>(until moment: Time.Instant, on clock: Time) where Time.Duration == Duration {
    duration = clock.now.duration(to: moment)
    nanoseconds = duration.wholeNanoseconds
    alarm = clock is ContinuousClock ? nil : ClockAlarm(moment, on: clock)
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded up; `Int64.max` on overflow.
  @usableFromInline var wholeNanoseconds: Int64 {
    let nanoseconds = inNanoseconds
    return self > .nanoseconds(nanoseconds) && nanoseconds < .max ? nanoseconds + 1 : nanoseconds
  }
}
