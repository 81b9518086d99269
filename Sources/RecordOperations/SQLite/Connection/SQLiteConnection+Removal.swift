internal import CSQLite
internal import SystemFiles

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension SQLiteConnection {
  /// Removes the file, with this connection, if this connection has made it, nothing is in it and no other connection
  /// uses it. Otherwise the file stays.
  ///
  /// A connection that has read a file in WAL mode holds a lock until it is closed, so the exclusive lock cannot be had. A
  /// connection that has opened the file and not read it yet holds no lock. It will find that the file is no database;
  /// otherwise it would write records into a file that no longer has a name.
  func removeUnusedFile() {
    guard let madeFile, !isInTransaction else { return }
    // The file is not in WAL mode from here on. The next request opens it, or makes it, anew.
    hasFailed = true
    uninterrupted {
      withoutWaiting {
        do {
          // Fails while there is another connection.
          let journal = try first("PRAGMA journal_mode = DELETE") { $0.text(at: 0) }
          guard journal == "delete" else { return }
          try run("BEGIN EXCLUSIVE")
          guard try isEmpty,
            try OpenFolder.working.status(of: FileName(file)).identity == madeFile
          else { return }
          try OpenFolder.working.removeFile(FileName(file))
          unsafe composite_sqlite_invalidate(handle.pointer)
        } catch {}
      }
    }
  }

  /// Whether the file has neither tables nor anything else that a program has put into it.
  private var isEmpty: Bool {
    get throws {
      let numbers = try [
        "SELECT count(*) FROM sqlite_schema", "PRAGMA user_version", "PRAGMA application_id",
      ].map { sql in try first(sql) { $0.integer(at: 0) } }
      return numbers == [0, 0, 0]
    }
  }
}

extension SQLiteFile {
  /// Makes it, empty, unless there is a file of that name.
  ///
  /// The file gets its name by a link, when it is closed already: a process that closes a file loses the locks that its
  /// connections have on it.
  ///
  /// - Returns: Which file it is; nil if it was not made, also where the file system has no links.
  func make() -> FileStatus.Identity? {
    let temporary = ReplacementFile.name(beside: path)
    do {
      let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      defer { try? OpenFolder.working.removeFile(FileName(temporary)) }
      let status = Result { try file.status }
      try file.close()
      let identity = try status.get().identity
      try OpenFolder.working.link(FileName(temporary), as: FileName(path))
      return identity
    } catch { return nil }
  }
}
