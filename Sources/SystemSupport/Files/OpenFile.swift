internal import CProcesses

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// An open file, which must be closed exactly once.
package struct OpenFile: Sendable {
  /// The maximum size of a block in bytes: small enough to stop in time, and large enough to be
  /// fast.
  package static let blockSize = 1 << 20

  /// Flags to open a pipe or a device without waiting for the other end.
  package static let withoutWaiting = O_NONBLOCK | O_NOCTTY

  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  /// - Throws: The system's error.
  package init(_ path: String, _ flags: Int32, mode: FilePermissions = 0) throws(SystemError) {
    self = try OpenFolder.working.open(FileName(path), flags, mode: mode)
  }

  /// Reads bytes into a buffer.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw .last }
    }
  }

  /// Writes all bytes, in as many calls as the system needs.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try unsafe writeSome(UnsafeRawBufferPointer(rebasing: bytes[written...]))
    }
  }

  /// - Returns: The number of bytes written, at least 1.
  private func writeSome(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = unsafe file_write_quietly(descriptor, bytes.baseAddress, bytes.count)
      if count > 0 { return count }
      if count == 0 { throw SystemError(code: EIO) }
      if errno != EINTR { throw .last }
    }
  }

  /// Waits until all written bytes are on the disk.
  package func synchronize() throws(SystemError) {
    #if canImport(Darwin)
      // On Darwin, fsync leaves the bytes in the memory of the disk.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    while fsync(descriptor) != 0 {
      // Files without a disk, such as pipes, cannot be synchronized.
      if errno == EINVAL || errno == EROFS || errno == ENOTSUP { return }
      if errno != EINTR { throw .last }
    }
  }

  package var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      if unsafe fstat(descriptor, &status) != 0 { throw .last }
      return FileStatus(status)
    }
  }

  /// Gives the file the owner, the group and the permissions of another file.
  ///
  /// Without the right to change the owner, the file keeps its owner, and loses setuid and setgid,
  /// which would apply to another user or group.
  ///
  /// - Parameter mask: The permissions that the file may get.
  package func takeRights(of status: FileStatus, masking mask: FilePermissions = 0o7777)
    throws(SystemError)
  {
    let own = try self.status
    var permissions = status.permissions & mask
    if own.owner != status.owner || own.group != status.group {
      if fchown(descriptor, status.owner, status.group) != 0 {
        // The process may be a member of the group.
        _ = fchown(descriptor, uid_t.max, status.group)
        permissions &= 0o1777
      }
    }
    // In this order, because a change of the owner clears permissions.
    if fchmod(descriptor, permissions) != 0 { throw .last }
  }

  /// Gives the file the owner, the group, the permissions and the times of another file.
  package func take(_ status: FileStatus) throws(SystemError) {
    try takeRights(of: status)
    var times = [status.accessed, status.modified]
    if unsafe futimens(descriptor, &times) != 0 { throw .last }
  }

  package func close() throws(SystemError) {
    // The file is closed even if the call is interrupted.
    if systemClose(descriptor) != 0, errno != EINTR { throw .last }
  }
}

// MARK: Pipes and devices

extension OpenFile {
  /// Reads bytes from a file that was opened ``withoutWaiting`` and may have none yet.
  ///
  /// - Parameter check: Called repeatedly while there is nothing to read. It throws to end the
  ///   wait.
  /// - Returns: The number of bytes read; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer, waiting check: () throws -> Void)
    throws
    -> Int
  {
    while true {
      // Also before the first read: a pipe without a writer so far would report its end.
      try wait(for: POLLIN, check)
      do throws(SystemError) { return try unsafe read(into: buffer) } catch {
        if error.code != EAGAIN { throw error }
      }
    }
  }

  /// Writes all bytes to a file that was opened ``withoutWaiting`` and may have no room yet.
  ///
  /// - Parameter check: Called repeatedly while there is no room. It throws to end the wait.
  package func write(_ bytes: UnsafeRawBufferPointer, waiting check: () throws -> Void) throws {
    var written = 0
    while written < bytes.count {
      try wait(for: POLLOUT, check)
      do throws(SystemError) {
        written += try unsafe writeSome(UnsafeRawBufferPointer(rebasing: bytes[written...]))
      } catch {
        if error.code != EAGAIN { throw error }
      }
    }
  }

  /// Writes all bytes to a file that was not opened ``withoutWaiting`` and may have no room yet.
  ///
  /// The mode of an open file cannot be changed without affecting every process that shares it. A
  /// file that reports room has enough for one piece, so no call blocks.
  ///
  /// - Parameter check: Called repeatedly while there is no room. It throws to end the wait.
  package func write(
    inPieces bytes: UnsafeRawBufferPointer, waiting check: () throws -> Void
  ) throws {
    var start = 0
    while start < bytes.count {
      let end = min(start + Self.pieceSize, bytes.count)
      try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), waiting: check)
      start = end
    }
  }

  /// `PIPE_BUF` of the system: the number of bytes that a pipe takes atomically.
  private static var pieceSize: Int {
    #if canImport(Darwin)
      512
    #else
      4_096
    #endif
  }

  private func wait(for events: Int32, _ check: () throws -> Void) throws {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
      try check()
      // The maximum delay of a cancellation in milliseconds.
      let count = unsafe poll(&request, 1, 50)
      if count > 0 { return }
      if count < 0, errno != EINTR { throw SystemError.last }
    }
  }
}

// The system's functions, because methods have the same names.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
