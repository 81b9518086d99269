#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension ProcessLaunchError {
  /// What a call of the system failed by.
  public struct Failure: Sendable, Hashable, CustomStringConvertible {
    /// One of `errno`.
    public let code: Int32

    init(code: Int32) { self.code = code }

    /// What the last call of this thread failed by.
    static var last: Failure { Failure(code: errno) }

    public var description: String {
      var text = [CChar](repeating: 0, count: 256)
      guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
      return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What can be done about it where a file is read.
    var adviceToReader: String {
      switch code {
      case ENXIO: "No process has the named pipe open for writing. Start its writer first."
      default: "Use a readable file as input."
      }
    }

    /// What can be done about it where a file is written.
    var adviceToWriter: String {
      switch code {
      case ENOENT, ENOTDIR: "Create the folder first, or use another path."
      case EACCES, EPERM, EROFS: "Use a path that is writable."
      case EISDIR: "Use the path of a file in that folder."
      case ENXIO: "No process has the named pipe open for reading. Start its reader first."
      default: advice
      }
    }

    /// What can be done about it.
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
  /// Whether it may go by itself: a file cannot be run as long as somebody has it open to write
  /// it, and a program that is being started may have inherited that for a moment.
  var mayPass: Bool {
    if case .system(let failure) = reason { failure.code == ETXTBSY } else { false }
  }
}
