#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension ProcessLaunchError {
  /// The error of a system call.
  public struct Failure: Sendable, Hashable, CustomStringConvertible {
    /// The `errno` of the call.
    public let code: Int32

    init(code: Int32) { self.code = code }

    /// The error of the last system call on this thread.
    static var last: Failure { Failure(code: errno) }

    /// The system's text for the error.
    public var description: String {
      var text = [CChar](repeating: 0, count: 256)
      guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
      return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The advice for a file to read.
    var adviceToReader: String {
      switch code {
      case ENXIO: "No process has the named pipe open for writing. Start its writer first."
      default: "Use a readable file as input."
      }
    }

    /// The advice for a file to write.
    var adviceToWriter: String {
      switch code {
      case ENOENT, ENOTDIR: "Create the folder first, or use another path."
      case EACCES, EPERM, EROFS: "Use a path that is writable."
      case EISDIR: "Use the path of a file in that folder."
      case ENXIO: "No process has the named pipe open for reading. Start its reader first."
      default: advice
      }
    }

    /// The advice for other calls.
    var advice: String {
      switch code {
      case EMFILE, ENFILE:
        "Run fewer programs at once, or raise the limit on open files: each uses up to four."
      case EAGAIN: "Run fewer programs at once, or raise the limit on processes."
      case ENOMEM: "Run fewer programs at once: there is not enough memory."
      case ETXTBSY:
        "The file is open for writing. Close it first, also in processes that inherited it."
      default: "Try again, or run it in a shell for more information."
      }
    }
  }
}

extension ProcessLaunchError {
  /// Whether the failure may be temporary. A file that is open for writing cannot be executed, and
  /// a program that is being started may have inherited its descriptor for a short time.
  var isTransient: Bool {
    if case .system(let failure) = reason { failure.code == ETXTBSY } else { false }
  }
}
