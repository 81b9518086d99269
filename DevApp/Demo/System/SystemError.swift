#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The error of a failed system call.
struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  let code: Int32

  /// The error of the last failed call on this thread.
  static var last: SystemError { SystemError(code: errno) }

  var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  var description: String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
