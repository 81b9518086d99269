// Pipes and devices, which may have no bytes and no room yet.
extension FileDescriptor {
  /// Reads the bytes that are available now.
  ///
  /// - Returns: The number of bytes read; 0 at the end, nil if none are available.
  package func readAvailable(into bytes: inout [UInt8]) throws(SystemError) -> Int? {
    do throws(SystemError) { return try read(into: &bytes) } catch {
      if error == .wouldBlock { return nil }
      throw error
    }
  }

  /// Writes as many bytes as there is room for now.
  ///
  /// - Returns: The number of bytes written; 0 if there is no room.
  package func writeAvailable(
    _ bytes: UnsafeRawBufferPointer, brokenPipe: BrokenPipeHandling
  ) throws(SystemError) -> Int {
    if bytes.count == 0 { return 0 }
    do throws(SystemError) { return try unsafe writeSome(bytes, brokenPipe) } catch {
      if error == .wouldBlock { return 0 }
      throw error
    }
  }

  /// Reads bytes, and waits until there are some.
  ///
  /// The file must have been opened with ``OpenOptions/nonBlocking``.
  ///
  /// - Parameter check: Called repeatedly while there is nothing to read. It throws to end the
  ///   wait.
  /// - Returns: The number of bytes read; 0 at the end.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, waiting check: () throws -> Void
  ) throws -> Int {
    while true {
      // Also before the first read: a pipe without a writer so far would report its end.
      try wait(for: POLLIN, check)
      do throws(SystemError) { return try unsafe read(into: buffer) } catch {
        if error != .wouldBlock { throw error }
      }
    }
  }

  /// Writes all bytes, and waits for room.
  ///
  /// The file must have been opened with ``OpenOptions/nonBlocking``.
  ///
  /// - Parameter check: Called repeatedly while there is no room. It throws to end the wait.
  package func write(_ bytes: UnsafeRawBufferPointer, waiting check: () throws -> Void) throws {
    var written = 0
    while written < bytes.count {
      try wait(for: POLLOUT, check)
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
      written += try unsafe writeAvailable(rest, brokenPipe: .error)
    }
  }

  /// Writes all bytes to a file that was opened without ``OpenOptions/nonBlocking``, and waits for
  /// room.
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
    var request = pollfd(fd: rawValue, events: Int16(events), revents: 0)
    while true {
      try check()
      // The maximum delay of a cancellation in milliseconds.
      let count = unsafe poll(&request, 1, 50)
      if count > 0 { return }
      if count < 0, errno != EINTR { throw SystemError.last }
    }
  }
}
