internal import CProcesses

extension FileDescriptor {
  /// Locks the file against other processes, and against other descriptors of this process.
  ///
  /// - Returns: Whether the file was locked; false if another descriptor holds the lock.
  package func tryLock() throws(SystemError) -> Bool {
    if flock(rawValue, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw .last
  }

  package func unlock() { flock(rawValue, LOCK_UN) }

  // MARK: Bytes

  /// Locks one byte of the file, together with other descriptors that do the same.
  ///
  /// The lock belongs to this descriptor: it ends when the descriptor is closed or the process ends, however it
  /// ends. Programs that this process starts do not inherit it. A child made by `fork` without `exec` shares it.
  ///
  /// - Parameter offset: May be beyond the end of the file.
  package func lock(byte offset: Int64) throws(SystemError) { try setLock(offset, true) }

  package func unlock(byte offset: Int64) throws(SystemError) { try setLock(offset, false) }

  private func setLock(_ offset: Int64, _ isLocked: Bool) throws(SystemError) {
    let code = file_lock_byte(rawValue, off_t(offset), isLocked ? 1 : 0)
    if code != 0 { throw SystemError(code: code) }
  }

  /// Returns whether another descriptor, of this or of another process, has locked a byte of the file. Needs no
  /// permission to write.
  package func isLockedByOthers(byte offset: Int64) throws(SystemError) -> Bool {
    var isFound: Int32 = 0
    let code = unsafe file_find_lock(rawValue, off_t(offset), &isFound)
    if code != 0 { throw SystemError(code: code) }
    return isFound != 0
  }
}
