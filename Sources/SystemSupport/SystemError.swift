#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The error of a failed system call.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  /// The value of `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// The error of the last system call that failed on the calling thread.
  package static var last: SystemError { SystemError(code: errno) }

  package var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// A sentence that says what to do about the error of a call that was given a path.
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
