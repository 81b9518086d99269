/// A moment of a clock: how to sleep until then, and whether it has come.
@usableFromInline struct ClockAlarm: Sendable {
  let sleep: @Sendable () async throws -> Void
  let hasPassed: @Sendable () -> Bool

  /// - Parameter moment: When it is.
  init<Time: Clock>(_ moment: Time.Instant, on clock: Time) where Time.Duration == Duration {
    sleep = { try await clock.sleep(until: moment, tolerance: nil) }
    hasPassed = { clock.now >= moment }
  }

  /// - Parameter delay: How long it is from now.
  init(in delay: Duration, by clock: some Clock<Duration>) {
    // No clock counts so far that a century from now could not be told.
    self.init(clock.now.advanced(by: min(delay, .seconds(3_000_000_000))), on: clock)
  }
}

/// How long something may take, and who measures that.
@usableFromInline struct TimeLimit: Sendable {
  /// What errors tell.
  @usableFromInline let duration: Duration
  /// By the process's timer; at least 1 if there is any time.
  @usableFromInline let nanoseconds: Int64
  /// By a clock of somebody's own; nil for the process's timer.
  let alarm: ClockAlarm?

  /// - Parameters:
  ///   - duration: How long it may take.
  ///   - clock: What measures that; nil for the process's timer.
  init(_ duration: Duration, by clock: (any Clock<Duration>)?) {
    self.duration = duration
    nanoseconds = duration.wholeNanoseconds
    alarm = clock.map { ClockAlarm(in: duration, by: $0) }
  }

  /// - Parameter moment: When it has to be over.
  init<Time: Clock>(until moment: Time.Instant, on clock: Time) where Time.Duration == Duration {
    duration = clock.now.duration(to: moment)
    nanoseconds = duration.wholeNanoseconds
    alarm = clock is ContinuousClock ? nil : ClockAlarm(moment, on: clock)
  }
}

extension Duration {
  /// In nanoseconds, rounded up; the greatest number for what does not fit.
  @usableFromInline var wholeNanoseconds: Int64 {
    let nanoseconds = inNanoseconds
    return self > .nanoseconds(nanoseconds) && nanoseconds < .max ? nanoseconds + 1 : nanoseconds
  }
}
