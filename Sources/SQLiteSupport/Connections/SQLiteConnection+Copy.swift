internal import CSQLite
internal import SystemSupport

extension SQLiteConnection {
  /// Copies the database as it is now into a new file, which only its owner may use. Other connections may write
  /// meanwhile.
  ///
  /// The copy is complete in one file. It has its name when it is on the disk.
  ///
  /// - Parameters:
  ///   - path: The path of the new file.
  ///   - change: Changes the copy before it has its name.
  /// - Throws: A ``SQLiteError``; a `SystemError`, which is `fileExists` if there is a file; the error of the closure.
  ///   No part of a copy is left then.
  package func copy(to path: String, _ change: (SQLiteConnection) throws -> Void = { _ in }) throws
  {
    let path = SQLiteFile(path).path
    if !FileSystem.isMissing(path) { throw SystemError.fileExists }
    // Opened first: if the folder cannot be opened, it cannot be synchronized.
    let folder = try OpenFolder(path.splitPath.folder, followingLink: true)
    defer { folder.close() }
    let temporary = ReplacementFile.name(beside: path)
    try FileDescriptor.open(temporary, .writeOnly, .exclusiveCreate, permissions: 0o600).close()
    do {
      try copyContents(to: temporary, change)
      try FileSystem.renameIfFree(temporary, to: path)
    } catch {
      try? OpenFolder.working.removeFile(FileName(temporary))
      throw error
    }
    try folder.descriptor.synchronize()
  }

  private func copyContents(to path: String, _ change: (SQLiteConnection) throws -> Void) throws {
    let handle = try SQLiteHandle.open(
      SQLiteFile(path), for: .writing, SQLiteConfiguration(access: .existing))
    guard
      let backup = unsafe sqlite3_backup_init(handle.pointer, "main", self.handle.pointer, "main")
    else { throw unsafe SQLiteError(sqlite3_extended_errcode(handle.pointer), of: handle) }
    // All pages at once: a change between two calls would begin the copy again.
    let step = unsafe sqlite3_backup_step(backup, -1)
    let end = unsafe sqlite3_backup_finish(backup)
    guard step == SQLITE_DONE, end == SQLITE_OK else {
      throw SQLiteError(step == SQLITE_DONE ? end : step, of: handle)
    }
    let copy = SQLiteConnection(handle)
    // Without a log beside it, and on the disk after each change.
    let mode = try copy.fetchOne("PRAGMA journal_mode = DELETE") { $0.text(at: 0) }
    guard mode == "delete" else { throw SQLiteError(SQLITE_BUSY, of: handle) }
    try copy.execute("PRAGMA synchronous = FULL")
    try copy.transaction(.immediate) { try change(copy) }
  }
}
