internal import ThreadSupport

/// A deadline on a clock.
@usableFromInline protocol ClockAlarm: Sendable {
  /// Sleeps until the deadline.
  nonisolated(nonsending) func sleep() async throws

  var hasPassed: Bool { get }

  /// The time until the deadline; negative after it.
  var timeLeft: Duration { get }
}

/// A deadline at an instant of a clock.
struct InstantAlarm<Time: Clock>: ClockAlarm where Time.Duration == Duration {
  let moment: Time.Instant
  let clock: Time

  func sleep() async throws { try await clock.wait(until: moment) }
  var hasPassed: Bool { clock.now >= moment }
  var timeLeft: Duration { clock.now.duration(to: moment) }
}

extension Clock<Duration> {
  /// Returns the deadline that this clock reaches after a delay from now.
  fileprivate func alarm(in delay: Duration) -> any ClockAlarm {
    InstantAlarm(moment: instant(in: delay), clock: self)
  }
}

/// A time limit and the clock that measures it.
@usableFromInline struct TimeLimit: Sendable {
  /// The limit, as errors show it.
  @usableFromInline let duration: Duration
  /// The limit for the process's timer, in nanoseconds; at least 1 if the duration is positive.
  @usableFromInline let nanoseconds: Int64
  /// The deadline on a clock of the user; nil if the process's timer measures the limit.
  let alarm: (any ClockAlarm)?

  /// Creates a limit that begins now.
  ///
  /// - Parameters:
  ///   - duration: The limit.
  ///   - clock: The clock that measures the limit; nil for the process's timer.
  init(_ duration: Duration, by clock: (any Clock<Duration>)?) {
    self.duration = duration
    nanoseconds = duration.wholeNanoseconds
    alarm = clock?.alarm(in: duration)
  }

  /// Creates a limit that ends at the instant `moment` of a clock.
  init<Time: Clock>(until moment: Time.Instant, on clock: Time) where Time.Duration == Duration {
    duration = clock.now.duration(to: moment)
    nanoseconds = duration.wholeNanoseconds
    alarm = clock is ContinuousClock ? nil : InstantAlarm(moment: moment, clock: clock)
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded up; `Int64.max` on overflow.
  @usableFromInline var wholeNanoseconds: Int64 {
    let nanoseconds = inNanoseconds
    return self > .nanoseconds(nanoseconds) && nanoseconds < .max ? nanoseconds + 1 : nanoseconds
  }
}
