#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The error of a failed system call.
struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The value of `errno`.
  let code: Int32

  /// The error of the last system call that failed on the calling thread.
  static var last: SystemError { SystemError(code: errno) }

  /// Whether no file has the path.
  var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// The system's text for the error.
  var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Calls a system function, again if a signal has interrupted it.
  ///
  /// - Parameter call: Returns a negative number if it has failed.
  /// - Returns: The number that the function returns.
  @discardableResult static func check(_ call: () -> Int32) throws(SystemError) -> Int32 {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw .last }
    }
  }
}

// As the number, because a journal may hold many.
extension SystemError: Codable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(code)
  }

  init(from decoder: any Decoder) throws {
    self.init(code: try decoder.singleValueContainer().decode(Int32.self))
  }
}
