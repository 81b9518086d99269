internal import CProcesses
package import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// An open file. Whoever made it closes it, once.
package struct OpenFile: Sendable {
  /// What a block of a file has at most: small enough to stop in time, and large enough to be quick.
  package static let blockSize = 1 << 20

  /// Opens what may be a pipe or a device, without waiting for whom is at its other end.
  package static let withoutWaiting = O_NONBLOCK | O_NOCTTY

  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  /// - Throws: What the system says against it.
  package init(_ path: String, _ flags: Int32, mode: FilePermissions = 0) throws(SystemError) {
    self = try OpenFolder.working.open(FileName(path), flags, mode: mode)
  }

  /// - Returns: How many bytes were read; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      if errno != EINTR { throw .last }
    }
  }

  /// Writes all of it, in as many calls as the system wants.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try unsafe writeSome(UnsafeRawBufferPointer(rebasing: bytes[written...]))
    }
  }

  /// - Returns: How many bytes of it were written, one at least.
  private func writeSome(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    while true {
      let count = unsafe file_write_quietly(descriptor, bytes.baseAddress, bytes.count)
      if count > 0 { return count }
      if count == 0 { throw SystemError(code: EIO) }
      if errno != EINTR { throw .last }
    }
  }

  /// Waits until what was written is on the disk.
  package func synchronize() throws(SystemError) {
    #if canImport(Darwin)
      // There, fsync leaves the bytes in the disk's own memory.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    while fsync(descriptor) != 0 {
      // What has no disk below it cannot.
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

  /// Gives it another's owner, group and rights.
  ///
  /// Who may not give files away keeps it. It then has no right to be run as its owner or its group: those would
  /// be others.
  ///
  /// - Parameter mask: The rights that it may get.
  package func takeRights(of status: FileStatus, masking mask: FilePermissions = 0o7777)
    throws(SystemError)
  {
    let own = try self.status
    var permissions = status.permissions & mask
    if own.owner != status.owner || own.group != status.group {
      if fchown(descriptor, status.owner, status.group) != 0 {
        // The group alone may be one of one's own.
        _ = fchown(descriptor, uid_t.max, status.group)
        permissions &= 0o1777
      }
    }
    // In this order, because a change of the owner takes rights away.
    if fchmod(descriptor, permissions) != 0 { throw .last }
  }

  /// Gives it another's owner, group, rights and times.
  package func take(_ status: FileStatus) throws(SystemError) {
    try takeRights(of: status)
    var times = [status.accessed, status.modified]
    if unsafe futimens(descriptor, &times) != 0 { throw .last }
  }

  package func close() throws(SystemError) {
    // It is closed even where the call was interrupted.
    if systemClose(descriptor) != 0, errno != EINTR { throw .last }
  }
}

// MARK: Pipes and devices

extension OpenFile {
  /// Reads from what may have nothing yet, and was opened ``withoutWaiting``.
  ///
  /// - Parameter check: Asked again and again while there is nothing; it throws to end the wait.
  /// - Returns: How many bytes were read; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer, waiting check: () throws -> Void)
    throws
    -> Int
  {
    while true {
      // Before the first read, too: of a pipe that nobody has opened for writing yet, it would say that it has
      // come to its end.
      try wait(for: POLLIN, check)
      do throws(SystemError) { return try unsafe read(into: buffer) } catch {
        if error.code != EAGAIN { throw error }
      }
    }
  }

  /// Writes all of it to what may have no room yet, and was opened ``withoutWaiting``.
  ///
  /// - Parameter check: Asked again and again while there is no room; it throws to end the wait.
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

  /// Writes all of it to what may have no room yet, and was opened by somebody who did not mean to ask for it.
  ///
  /// That cannot be changed without changing it for everybody who has it open. What says that it has room for anything
  /// has it for a piece, so that no call waits.
  ///
  /// - Parameter check: Asked again and again while there is no room; it throws to end the wait.
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

  /// `PIPE_BUF` of the system: what a pipe takes at once.
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
      // So many milliseconds a cancellation may have to wait.
      let count = unsafe poll(&request, 1, 50)
      if count > 0 { return }
      if count < 0, errno != EINTR { throw SystemError.last }
    }
  }
}

// The functions of the system, whose names methods have too.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
