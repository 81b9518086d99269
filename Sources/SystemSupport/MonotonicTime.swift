#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The engine's clock. A reading is a plain number of nanoseconds since an arbitrary instant,
/// because the arithmetic of `Duration` takes longer than an empty operation.
package enum MonotonicTime {
  package static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
