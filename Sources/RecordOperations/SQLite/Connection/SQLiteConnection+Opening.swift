internal import CSQLite

extension SQLiteConnection {
  /// What a connection is for.
  package enum Purpose: Sendable { case reading, writing }

  /// Opens a file.
  ///
  /// One that is written gets a log for its changes, so that others read it meanwhile; one that is only read stays as
  /// it is, and has as little beside it as can be.
  ///
  /// - Throws: A ``RecordError`` if it is not there, or may not be opened for that; a ``SQLiteError`` if it is no
  ///   database.
  package static func open(
    _ path: String, for purpose: Purpose, _ options: SQLiteOptions
  ) throws -> SQLiteConnection {
    guard sqlite3_libversion_number() >= 3_038_000 else {
      let version = unsafe String(cString: sqlite3_libversion())
      throw RecordError(.unsupported("SQLite 3.38 or later is needed, and this is \(version)"))
    }
    let file = SQLiteFile(path)
    try check(file, for: purpose, options.access)
    let handle = try SQLiteHandle.open(file, for: purpose, options)
    let connection = SQLiteConnection(handle)
    if purpose == .writing, connection.isReadOnly {
      throw RecordError(.notPermitted("\(path) may be read, but not be written"))
    }
    // The header is read here, so that what is no database says so before anything else.
    _ = try connection.first("PRAGMA schema_version") { $0.integer(at: 0) }
    try connection.run("PRAGMA recursive_triggers = ON")
    switch purpose {
    case .reading: try connection.run("PRAGMA query_only = ON")
    case .writing: try connection.prepareForWriting(options.durability)
    }
    return connection
  }

  private static func check(
    _ file: SQLiteFile, for purpose: Purpose, _ access: SQLiteOptions.Access
  ) throws {
    let path = file.path
    if path.utf8.contains(0) {
      throw RecordError(
        .storage(
          "there is a NUL in the name \(path.debugDescription), where the system would end it"))
    }
    if access == .readOnly, purpose == .writing {
      throw RecordError(.notPermitted("\(path) was opened to be read only"))
    }
    switch file.kind {
    case .file: break
    case .missing:
      if access != .create {
        let advice = purpose == .writing ? ", and only the access .create makes one" : ""
        throw RecordError(.storage("there is no file \(path)\(advice)"))
      }
    case .folder: throw RecordError(.storage("\(path) is a folder, and no SQLite database"))
    case .other:
      throw RecordError(.storage("\(path) is a pipe or a device, and no SQLite database"))
    case .unknown(let code):
      throw RecordError(.notPermitted("\(path) cannot be looked at (errno \(code))"))
    }
    if case .file = file.kind, !file.isReadable {
      throw RecordError(.notPermitted("\(path) may not be read"))
    }
  }

  private func prepareForWriting(_ durability: SQLiteOptions.Durability) throws {
    // It stays as it is where others are using it right now, or where the file system has no shared memory.
    let journal = try? first("PRAGMA journal_mode = WAL") { $0.text(at: 0) }
    // Without the log, the file itself is only safe if the disk is waited for.
    let isSafe = journal == "wal" && durability == .normal
    try run("PRAGMA synchronous = \(isSafe ? "NORMAL" : "FULL")")
    // Kibibytes. What a transaction has changed beyond that is written before its end, and perhaps again.
    try run("PRAGMA cache_size = -16384")
  }
}

extension SQLiteHandle {
  /// - Throws: A ``SQLiteError``.
  fileprivate static func open(
    _ file: SQLiteFile, for purpose: SQLiteConnection.Purpose, _ options: SQLiteOptions
  ) throws -> SQLiteHandle {
    switch (options.access, purpose) {
    case (.create, _):
      return try open(
        file.path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, of: file, options)
    case (.existing, .writing): return try open(file.path, SQLITE_OPEN_READWRITE, of: file, options)
    case (.existing, .reading):
      // What only reads cannot take away the log that it has made.
      let flags = file.isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
      return try open(file.path, flags, of: file, options)
    case (.readOnly, _):
      let plain = try open(file.path, SQLITE_OPEN_READONLY, of: file, options)
      guard unsafe composite_sqlite_uses_log(plain.pointer) != 0, !file.hasLog else { return plain }
      // To read it, a file has to be made beside it: one that cannot be made, and need not, where nobody writes.
      if file.isImmutable {
        return try open(
          file.immutableAddress, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, of: file, options)
      }
      // Who may not write could not remove that file at the end.
      return file.isWritable
        ? try open(file.path, SQLITE_OPEN_READWRITE, of: file, options) : plain
    }
  }

  private static func open(
    _ name: String, _ flags: Int32, of file: SQLiteFile, _ options: SQLiteOptions
  ) throws -> SQLiteHandle {
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
    // There is one in most cases of failure, too, and it is closed with the handle.
    guard let opened = unsafe pointer else {
      throw SQLiteError(code: code, message: "there is no memory", file: file.path)
    }
    let handle = unsafe SQLiteHandle(
      owning: opened, of: file.path, busyTimeout: options.busyTimeout)
    guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    unsafe sqlite3_extended_result_codes(opened, 1)
    for (option, isOn) in [
      (SQLITE_DBCONFIG_ENABLE_FKEY, true), (SQLITE_DBCONFIG_DEFENSIVE, true),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, options.trustsSchema),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
      // A name in double quotes that is no column is an error, and no text.
      (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
    ] { unsafe composite_sqlite_configure(opened, option, isOn ? 1 : 0) }
    for (limit, value) in [
      // VACUUM attaches one.
      (SQLITE_LIMIT_ATTACHED, Int32(1)), (SQLITE_LIMIT_WORKER_THREADS, 0),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1_000), (SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    ] { unsafe sqlite3_limit(opened, limit, value) }
    return handle
  }
}
