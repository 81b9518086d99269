import CommandLineOperations

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file that is open for reading as long as this object exists.
final class OpenFile {
  private let descriptor: Int32

  init(_ path: RawPath) throws(SystemError) {
    // Without waiting for the other end, in case the path has become a pipe.
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    descriptor = try unsafe path.call { unsafe openat($0, $1, flags) }
  }

  deinit { close(descriptor) }

  func status() throws(SystemError) -> FileStatus { try FileStatus(ofOpen: descriptor) }

  /// Reads bytes at an offset; fewer if the file ends before.
  func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var error: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count {
        let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[done...])
        let read = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        if read > 0 {
          done += read
        } else if read == 0 {
          return
        } else if errno != EINTR {
          error = .last
          return
        }
      }
    }
    if let error { throw error }
    return bytes
  }
}
