internal import CSQLite
internal import SystemSupport

extension SQLiteConnection {
  /// Removes the file if this connection has created it, it is empty, and no other connection uses
  /// it. Otherwise the file stays.
  ///
  /// A connection that has read a file in WAL mode holds a lock until it closes, so the exclusive
  /// lock is not available. A connection that has opened the file but not read it yet holds no
  /// lock. It will find that the file is not a database; otherwise it would write records into a
  /// file without a name.
  package func removeUnusedFile() {
    guard let createdFile, !isInTransaction else { return }
    // The file leaves WAL mode here. The next request opens or creates it again.
    isUnusable = true
    ignoringCancellation {
      withoutWaiting {
        do {
          // Fails if there is another connection.
          let journal = try fetchOne("PRAGMA journal_mode = DELETE") { $0.text(at: 0) }
          guard journal == "delete" else { return }
          try execute("BEGIN EXCLUSIVE")
          guard try isEmpty,
            try OpenFolder.working.status(of: FileName(file)).identity == createdFile
          else { return }
          try OpenFolder.working.removeFile(FileName(file))
          unsafe composite_sqlite_invalidate(handle.pointer)
        } catch {}
      }
    }
  }

  /// Whether the file has no tables, and nothing else that a program has stored in it.
  private var isEmpty: Bool {
    get throws {
      let numbers = try [
        "SELECT count(*) FROM sqlite_schema", "PRAGMA user_version", "PRAGMA application_id",
      ].map { sql in try fetchOne(sql) { $0.integer(at: 0) } }
      return numbers == [0, 0, 0]
    }
  }
}

extension SQLiteFile {
  /// Creates the file, empty, unless a file of that name exists.
  ///
  /// The file is closed before it gets its name: a process that closes a file loses the locks of all its
  /// connections to it. If the path is a symbolic link without a target, the target is created.
  ///
  /// - Returns: The identity of the file; nil if it was not created, for example because the file
  ///   system can neither rename a file to a free name nor link it.
  func create(permissions: FilePermissions) -> FileStatus.Identity? {
    do {
      let path = try FileSystem.followed(path).path
      let temporary = ReplacementFile.name(beside: path)
      let file = try FileDescriptor.open(
        temporary, .writeOnly, .exclusiveCreate, permissions: permissions)
      defer { try? OpenFolder.working.removeFile(FileName(temporary)) }
      let status = Result { try file.status }
      try file.close()
      let identity = try status.get().identity
      // The file never has two names, where the system can rename in this way.
      try FileSystem.renameIfFree(temporary, to: path)
      return identity
    } catch { return nil }
  }
}
