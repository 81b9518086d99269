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
    case ENOENT, ENOTDIR: "Create the folder first, or use another path."
    case EACCES, EPERM, EROFS: "Use a path that is writable."
    case EISDIR: "Use the path of a file in that folder."
    case ENOSPC, EDQUOT, EFBIG: "Free disk space, or use a path on another disk."
    case EMFILE, ENFILE: "Too many files are open: close some of them first."
    default: "Try again, or use another path."
    }
  }
}
