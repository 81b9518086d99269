import SystemSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is open for reading as long as this object exists.
final class OpenFile {
  private let descriptor: Int32

  init(_ path: RawPath) throws(SystemError) {
    // Without waiting for the other end, in case the path has become a pipe.
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    descriptor = unsafe path.withCString { unsafe open($0, flags) } ?? -1
    if descriptor < 0 { throw SystemError.last }
  }

  deinit { close(descriptor) }

  func status() throws(SystemError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last }
    return FileStatus(status)
  }

  /// Reads bytes at an offset; fewer if the file ends before.
  func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var error: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count, let address = buffer.baseAddress {
        let length = unsafe pread(descriptor, address + done, count - done, off_t(offset + done))
        if length == 0 { break }
        if length > 0 {
          done += length
        } else if errno != EINTR {
          error = .last
          break
        }
      }
    }
    if let error { throw error }
    return bytes
  }
}
