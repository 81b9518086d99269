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
      case ENXIO: "Nobody writes to that named pipe: begin its writer first."
      default: "Expected a file for its input."
      }
    }

    /// What can be done about it where a file is written.
    var adviceToWriter: String {
      switch code {
      case ENOENT, ENOTDIR: "Make its folder first, or name another place."
      case EACCES, EPERM, EROFS: "Name a place that may be written to."
      case EISDIR: "Name a file in that folder."
      case ENXIO: "Nobody reads that named pipe: begin its reader first."
      default: advice
      }
    }

    /// What can be done about it.
    var advice: String {
      switch code {
      case EMFILE, ENFILE:
        "Run fewer at once, or raise the limit of open files: each takes up to four."
      case EAGAIN: "Run fewer at once, or raise the limit of processes."
      case ENOMEM: "Run fewer at once: there is not enough memory."
      case ETXTBSY:
        "Somebody writes that file: close it first, also in programs that have inherited it."
      default: "Try again, or run it by hand to see more."
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
