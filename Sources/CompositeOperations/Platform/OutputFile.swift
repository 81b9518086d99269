#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A file that is written from its beginning to its end. Whoever made it closes it, once.
struct OutputFile: Sendable {
  private let descriptor: Int32

  /// What is said to a person. It is not to be closed.
  static let standardError = OutputFile(descriptor: STDERR_FILENO)

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Makes the file, or empties the one that is there.
  ///
  /// - Throws: What the system says against it.
  init(creating path: String) throws(SystemError) {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw .last }
    self.descriptor = descriptor
  }

  /// Writes all of it, in as many calls as the system wants.
  ///
  /// - Throws: What the system says against it. A part may have been written.
  func write(_ bytes: [UInt8]) throws(SystemError) {
    let failure: SystemError? = unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress,
        unsafe !rest.isEmpty
      {
        let count = unsafe Self.write(descriptor, start, rest.count)
        if count > 0 {
          unsafe rest = rest.dropFirst(count)
        } else if count == 0 {
          return SystemError(code: EIO)
        } else if errno != EINTR {
          return .last
        }
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// - Throws: What the system says: what was written may not have come through.
  func close() throws(SystemError) {
    // It is closed even where the call was interrupted.
    if Self.close(descriptor) != 0, errno != EINTR { throw .last }
  }

  // The functions of the system, whose names the methods have too.
  private static func write(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(file, bytes, count)
    #elseif canImport(Musl)
      unsafe Musl.write(file, bytes, count)
    #elseif canImport(Darwin)
      unsafe Darwin.write(file, bytes, count)
    #endif
  }

  private static func close(_ file: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(file)
    #elseif canImport(Musl)
      Musl.close(file)
    #elseif canImport(Darwin)
      Darwin.close(file)
    #endif
  }
}
