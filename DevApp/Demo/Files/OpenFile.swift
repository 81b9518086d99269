import CommandLineOperations
import SystemSupport

/// A file that is open for reading as long as this object exists.
final class OpenFile {
  private let file: OwnedFileDescriptor

  init(_ path: RawPath) throws(SystemError) {
    // Without waiting for the other end, in case the path has become a pipe.
    file = OwnedFileDescriptor(
      try OpenFolder.working.open(FileName(path.bytes), .readOnly, [.noFollow, .nonBlocking]))
  }

  func status() throws(SystemError) -> FileStatus { try file.descriptor.status }

  /// Reads bytes at an offset; fewer if the file ends before.
  func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var error: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      do throws(SystemError) {
        let target = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        done = try unsafe file.descriptor.read(into: target, at: offset)
      } catch let failure {
        error = failure
      }
    }
    if let error { throw error }
    return bytes
  }
}
