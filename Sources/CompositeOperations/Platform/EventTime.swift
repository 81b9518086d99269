#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A moment of `ContinuousClock` in nanoseconds: taking one takes half as long as asking that clock.
package struct EventTime: Sendable {
  package let nanoseconds: Int64

  /// What `ContinuousClock` reads; this goes on while the machine sleeps.
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

  /// Now by the clock on the wall, in nanoseconds since the beginning of 1970, UTC.
  package static var wallClockNow: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static let anchor = (time: EventTime.now, instant: ContinuousClock.now)

  /// The moment by the clock on the wall as that goes now, in nanoseconds since the beginning of 1970, UTC.
  package var wallClock: Int64 { Self.wallClockNow - (Self.now.nanoseconds - nanoseconds) }

  var instant: ContinuousClock.Instant {
    let anchor = Self.anchor
    return anchor.instant.advanced(by: .nanoseconds(nanoseconds - anchor.time.nanoseconds))
  }
}
