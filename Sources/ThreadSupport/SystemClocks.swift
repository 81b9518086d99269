/// An instant of `ContinuousClock` in nanoseconds, read in half the time that the clock takes.
package struct EventTime: Sendable {
  package let nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The system clock of `ContinuousClock`, which continues while the machine sleeps.
  private static var clock: clockid_t {
    #if os(Linux)
      CLOCK_BOOTTIME
    #else
      CLOCK_MONOTONIC
    #endif
  }

  package static var now: EventTime {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return EventTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The current wall-clock time, in nanoseconds since the beginning of 1970, UTC.
  package static var wallClockNow: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static let anchor = (time: EventTime.now, instant: ContinuousClock.now)

  /// The wall-clock time of the instant by the present setting of the wall clock, in nanoseconds
  /// since the beginning of 1970, UTC.
  package var wallClock: Int64 { Self.wallClockNow - (Self.now.nanoseconds - nanoseconds) }

  package var instant: ContinuousClock.Instant {
    let anchor = Self.anchor
    return anchor.instant.advanced(by: .nanoseconds(nanoseconds - anchor.time.nanoseconds))
  }
}

/// The engine's clock. A reading is a plain number of nanoseconds since an arbitrary instant,
/// because the arithmetic of `Duration` takes longer than an empty operation.
package enum MonotonicTime {
  package static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
