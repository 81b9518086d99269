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
    // A clock that was set beyond the year 2262 is no reason to trap.
    let (seconds, isTooLate) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLate ? .max : seconds &+ Int64(time.tv_nsec)
  }

  #if canImport(Darwin) || compiler(<6.3)
    // The epoch of the clock is public since Swift 6.3, and not on all supported Apple systems. It is
    // found by readings of both clocks, which are repeated until no other thread ran in between.
    private static let beginning: ContinuousClock.Instant = {
      var best: (span: Int64, instant: ContinuousClock.Instant) = (.max, .now)
      for _ in 0..<100 where best.span > 1_000 {
        let (earlier, instant, later) = (now.nanoseconds, ContinuousClock.now, now.nanoseconds)
        guard later - earlier < best.span else { continue }
        best = (later - earlier, instant.advanced(by: .nanoseconds(-earlier)))
      }
      return best.instant
    }()
  #else
    private static let beginning = ContinuousClock().systemEpoch
  #endif

  /// The wall-clock time of the instant by the present setting of the wall clock, in nanoseconds
  /// since the beginning of 1970, UTC.
  package var wallClock: Int64 { Self.wallClockNow - (Self.now.nanoseconds - nanoseconds) }

  package var instant: ContinuousClock.Instant {
    Self.beginning.advanced(by: .nanoseconds(nanoseconds))
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
