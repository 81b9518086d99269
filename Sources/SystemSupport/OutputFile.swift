#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A file that is written sequentially. Its creator must close it exactly once.
package struct OutputFile: Sendable {
  private let descriptor: Int32

  /// The standard error stream. It must not be closed.
  package static let standardError = OutputFile(descriptor: STDERR_FILENO)

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Creates a file, or truncates an existing one.
  ///
  /// - Throws: The error of the system call.
  package init(creating path: String) throws(SystemError) {
    var descriptor: Int32
    repeat {
      descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    } while descriptor < 0 && errno == EINTR
    if descriptor < 0 { throw .last }
    self.descriptor = descriptor
  }

  /// Writes all bytes, in as many system calls as that takes.
  ///
  /// - Throws: The error of the system call; `EIO` if it writes nothing. Some of the bytes may have
  ///   been written.
  package func write(_ bytes: [UInt8]) throws(SystemError) {
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

  /// Closes the file.
  ///
  /// - Throws: The error of the system call. Written bytes may have been lost.
  package func close() throws(SystemError) {
    // An interrupted call has closed the file, too.
    if Self.close(descriptor) != 0, errno != EINTR { throw .last }
  }

  // The system's functions, which the methods of the same names hide.
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
