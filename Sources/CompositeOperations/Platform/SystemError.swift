#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What a call of the system failed by.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  /// One of `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// What the last call of this thread failed by.
  package static var last: SystemError { SystemError(code: errno) }

  package var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// What whoever names files can do about it.
  package var advice: String {
    switch code {
    case ENOENT, ENOTDIR: "Make its folder first, or name another place."
    case EACCES, EPERM, EROFS: "Name a place that may be written to."
    case EISDIR: "Name a file in that folder."
    case ENOSPC, EDQUOT, EFBIG: "Make room, or name a place on another disk."
    case EMFILE, ENFILE: "Close other files first: too many are open."
    default: "Try again, or name another place."
    }
  }
}
