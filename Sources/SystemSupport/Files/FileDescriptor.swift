internal import CProcesses

/// An open file, folder, pipe or device. Its owner closes it exactly once.
package struct FileDescriptor: Hashable, Sendable {
  /// The direction in which a file is used.
  package enum AccessMode: Sendable { case readOnly, writeOnly, readWrite }

  /// The options of opening a file. Programs that this process starts never inherit the descriptor.
  package struct OpenOptions: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Creates the file if it does not exist.
    package static let create = OpenOptions(rawValue: O_CREAT)
    /// Creates the file, and fails if it exists.
    package static let exclusiveCreate = OpenOptions(rawValue: O_CREAT | O_EXCL)
    /// Removes the contents of an existing file.
    package static let truncate = OpenOptions(rawValue: O_TRUNC)
    /// Each write appends to the file, also if other processes write to it.
    package static let append = OpenOptions(rawValue: O_APPEND)
    /// Fails if the file is not a folder.
    package static let directory = OpenOptions(rawValue: O_DIRECTORY)
    /// Fails if the last name of the path is a symbolic link.
    package static let noFollow = OpenOptions(rawValue: O_NOFOLLOW)
    /// Opens, reads and writes a pipe or a device without waiting for its other end, which fails
    /// with ``SystemError/wouldBlock`` instead.
    package static let nonBlocking = OpenOptions(rawValue: O_NONBLOCK | O_NOCTTY)
  }

  /// How a write to a pipe without a reader fails.
  package enum BrokenPipeHandling: Sendable {
    /// The write throws ``SystemError/brokenPipe``.
    case error
    /// The system sends `SIGPIPE`, which ends the process unless it ignores the signal.
    case signal
  }

  /// The maximum number of bytes to read or write between two checks for a cancellation: small
  /// enough to stop in time, and large enough to be fast.
  package static let blockSize = 1 << 20

  package static let standardOutput = FileDescriptor(rawValue: STDOUT_FILENO)
  package static let standardError = FileDescriptor(rawValue: STDERR_FILENO)

  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Opens the file at a path.
  ///
  /// - Parameter permissions: The permissions of a file that is created.
  package static func open(
    _ path: String, _ mode: AccessMode, _ options: OpenOptions = [],
    permissions: FilePermissions = 0o666
  ) throws(SystemError) -> FileDescriptor {
    try OpenFolder.working.open(FileName(path), mode, options, permissions: permissions)
  }

  /// Reads bytes into a buffer.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try Self.repeatingIfInterrupted {
      unsafe systemRead(rawValue, buffer.baseAddress, buffer.count)
    }
  }

  /// Reads bytes into the beginning of an array.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  package func read(into bytes: inout [UInt8]) throws(SystemError) -> Int {
    var span = bytes.mutableSpan
    return try unsafe span.withUnsafeMutableBytes { bytes throws(SystemError) in
      try unsafe read(into: bytes)
    }
  }

  /// Fills a buffer with the bytes at an offset. The position of the descriptor stays.
  ///
  /// - Returns: The number of bytes read; fewer than the buffer has room for only at the end of the
  ///   file.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    var count = 0
    while count < buffer.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      let read = try Self.repeatingIfInterrupted {
        unsafe pread(rawValue, rest.baseAddress, rest.count, off_t(offset + count))
      }
      if read == 0 { break }
      count += read
    }
    return count
  }

  /// Reads the whole file at a path, such as a virtual file of the system.
  package static func contents(ofFile path: String) throws(SystemError) -> [UInt8] {
    let file = try open(path, .readOnly)
    defer { try? file.close() }
    var contents: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = try file.read(into: &block)
      if count == 0 { return contents }
      contents += block[..<count]
    }
  }

  /// Writes all bytes, in as many system calls as that takes.
  ///
  /// - Throws: The error of the system call; ``SystemError/ioError`` if it writes nothing. Some of
  ///   the bytes may have been written.
  package func write(
    _ bytes: UnsafeRawBufferPointer, brokenPipe: BrokenPipeHandling = .error
  ) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try unsafe writeSome(
        UnsafeRawBufferPointer(rebasing: bytes[written...]), brokenPipe)
    }
  }

  /// Writes all bytes, in as many system calls as that takes.
  package func write(
    _ bytes: [UInt8], brokenPipe: BrokenPipeHandling
  ) throws(SystemError) {
    try unsafe bytes.span.withUnsafeBytes { bytes throws(SystemError) in
      try unsafe write(bytes, brokenPipe: brokenPipe)
    }
  }

  /// - Returns: The number of bytes written, at least 1.
  func writeSome(
    _ bytes: UnsafeRawBufferPointer, _ brokenPipe: BrokenPipeHandling
  ) throws(SystemError) -> Int {
    let count = try Self.repeatingIfInterrupted {
      switch brokenPipe {
      case .error: unsafe file_write_quietly(rawValue, bytes.baseAddress, bytes.count)
      case .signal: unsafe systemWrite(rawValue, bytes.baseAddress, bytes.count)
      }
    }
    if count == 0 { throw .ioError }
    return count
  }

  /// Sets the position of the next read or write.
  package func seek(to offset: Int) throws(SystemError) {
    if lseek(rawValue, off_t(offset), SEEK_SET) < 0 { throw .last }
  }

  /// The position of the next read, or the end of what was written last.
  package var position: Int {
    get throws(SystemError) {
      let position = lseek(rawValue, 0, SEEK_CUR)
      if position < 0 { throw .last }
      return Int(position)
    }
  }

  /// Removes the contents after a number of bytes.
  package func truncate(to count: Int) throws(SystemError) {
    if ftruncate(rawValue, off_t(count)) != 0 { throw .last }
  }

  /// Waits until all written bytes are on the disk.
  package func synchronize() throws(SystemError) {
    #if canImport(Darwin)
      // On Darwin, fsync leaves the bytes in the memory of the disk.
      if fcntl(rawValue, F_FULLFSYNC) == 0 { return }
    #endif
    while fsync(rawValue) != 0 {
      // Files without a disk, such as pipes, cannot be synchronized.
      if errno == EINVAL || errno == EROFS || errno == ENOTSUP { return }
      if errno != EINTR { throw .last }
    }
  }

  package var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      if unsafe fstat(rawValue, &status) != 0 { throw .last }
      return FileStatus(status)
    }
  }

  package func setPermissions(_ permissions: FilePermissions) throws(SystemError) {
    if fchmod(rawValue, mode_t(permissions.rawValue)) != 0 { throw .last }
  }

  /// Gives the file the owner, the group and the permissions of another file.
  ///
  /// Without the right to change the owner, the file keeps its owner, and loses setuid and setgid,
  /// which would apply to another user or group.
  ///
  /// - Parameter mask: The permissions that the file may get.
  package func copyRights(
    from status: FileStatus, masking mask: FilePermissions = 0o7777
  ) throws(SystemError) {
    let own = try self.status
    var permissions = status.permissions.intersection(mask)
    if own.owner != status.owner || own.group != status.group {
      if fchown(rawValue, status.owner, status.group) != 0 {
        // The process may be a member of the group.
        _ = fchown(rawValue, uid_t.max, status.group)
        permissions.formIntersection(0o1777)
      }
    }
    // In this order, because a change of the owner clears permissions.
    try setPermissions(permissions)
  }

  /// Gives the file the owner, the group, the permissions and the times of another file.
  package func copyMetadata(from status: FileStatus) throws(SystemError) {
    try copyRights(from: status)
    var times = [timespec(status.accessed), timespec(status.modified)]
    if unsafe futimens(rawValue, &times) != 0 { throw .last }
  }

  /// Closes the file.
  ///
  /// - Throws: The error of the system call. Written bytes may have been lost.
  package func close() throws(SystemError) {
    // The file is closed even if the call is interrupted.
    if systemClose(rawValue) != 0, errno != EINTR { throw .last }
  }

  /// Calls a system function again if a signal has interrupted it.
  ///
  /// - Parameter call: Returns a negative number if it has failed.
  static func repeatingIfInterrupted<Number: SignedInteger>(
    _ call: () -> Number
  ) throws(SystemError) -> Number {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw .last }
    }
  }
}

/// A file descriptor that is closed when this value is destroyed.
package struct OwnedFileDescriptor: ~Copyable {
  package let descriptor: FileDescriptor

  package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  deinit { try? descriptor.close() }
}

// The system's functions, because methods have the same names.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)
}
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}
private func systemClose(_ file: Int32) -> Int32 { close(file) }
