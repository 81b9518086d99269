/// An exclusive lock on a file, which the system releases when the process ends, however it ends.
///
/// Programs that this process starts do not inherit it. A child made by `fork` without `exec` shares
/// it. Locks of one process on the same file exclude each other, too.
package final class FileLock: Sendable {
  package let path: String
  private let file: FileDescriptor

  /// Acquires the lock of a file without waiting.
  ///
  /// - Parameter creating: Whether to create the file, for its owner only, if it does not exist.
  /// - Returns: Nil if the lock is held.
  /// - Throws: The error of the system.
  package static func acquire(_ path: String, creating: Bool) throws(SystemError) -> FileLock? {
    while true {
      let file = try FileDescriptor.open(
        path, .readWrite, creating ? .create : [], permissions: 0o600)
      while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
        let error = SystemError.last
        if error.code == EINTR { continue }
        try? file.close()
        if error.code == EWOULDBLOCK { return nil }
        throw error
      }
      if file.isFile(path) { return FileLock(path, file) }
      // Its holder has removed it in the meantime.
      try? file.close()
    }
  }

  /// Whether the lock of a file is held. A file that cannot be opened counts as held, unless it is
  /// missing. During the check, ``acquire(_:creating:)`` finds the lock held.
  package static func isHeld(_ path: String) -> Bool {
    let file: FileDescriptor
    do { file = try FileDescriptor.open(path, .readOnly) } catch { return !error.isMissing }
    defer { try? file.close() }
    // Closing the file releases the lock.
    while flock(file.rawValue, LOCK_SH | LOCK_NB) != 0 {
      if SystemError.last.code != EINTR { return true }
    }
    return false
  }

  private init(_ path: String, _ file: FileDescriptor) {
    self.path = path
    self.file = file
  }

  deinit { try? file.close() }

  /// Removes the file, which ends the lock for others.
  package func removeFile() {
    if file.isFile(path) { unsafe unlink(path) }
  }
}

extension FileDescriptor {
  /// Whether the file at a path is this one.
  fileprivate func isFile(_ path: String) -> Bool {
    var status = stat()
    guard unsafe fstat(rawValue, &status) == 0 else { return false }
    return (try? FileStatus(ofFile: path).identity) == FileStatus(status).identity
  }
}
