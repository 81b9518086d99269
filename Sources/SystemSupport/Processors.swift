#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

package enum Processors {
  /// The number of online processors, at least 1.
  package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
