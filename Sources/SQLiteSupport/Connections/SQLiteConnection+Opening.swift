internal import CSQLite

extension SQLiteConnection {
  /// The purpose of a connection.
  package enum Purpose: Sendable { case reading, writing }

  /// Opens a file.
  ///
  /// Opening it for writing turns on WAL mode, so that others can read meanwhile. Opening it for
  /// reading leaves its journal mode as it is, and creates as few files next to it as possible.
  /// Reading does not need write permission, whatever the access is.
  ///
  /// - Throws: A ``SQLiteError`` if the file does not exist, is not a database, or cannot be opened
  ///   for the purpose.
  package static func open(
    _ path: String, for purpose: Purpose, _ configuration: SQLiteConfiguration
  ) throws -> SQLiteConnection {
    guard sqlite3_libversion_number() >= 3_038_000 else {
      let version = unsafe String(cString: sqlite3_libversion())
      throw SQLiteError(
        .unsupportedLibrary, "SQLite 3.38 or later is required (this is \(version))", file: path)
    }
    let file = SQLiteFile(path)
    try check(file, for: purpose, configuration.access)
    let createdFile =
      configuration.access == .create && purpose == .writing && file.isMissing
      ? file.create(permissions: configuration.permissions) : nil
    let handle = try SQLiteHandle.open(file, for: purpose, configuration)
    let connection = SQLiteConnection(handle, creating: createdFile)
    if purpose == .writing, connection.isReadOnly {
      throw SQLiteError(
        .notPermitted, "\(path) can be read, but not written", file: file.path)
    }
    // This reads the header, so that a file which is not a database fails here.
    do {
      _ = try connection.fetchOne("PRAGMA schema_version") { $0.integer(at: 0) }
    } catch let error as SQLiteError
      where error.isMissingFileBeside && purpose == .reading && handle.isInWALMode
    { throw file.unreadableWALError }
    try connection.execute("PRAGMA recursive_triggers = ON")
    switch purpose {
    case .reading: try connection.execute("PRAGMA query_only = ON")
    case .writing: try connection.prepareForWriting(configuration.durability)
    }
    return connection
  }

  /// Opens a database in memory, which exists as long as the connection.
  ///
  /// - Throws: A ``SQLiteError``.
  package static func openInMemory(
    _ configuration: SQLiteConfiguration = SQLiteConfiguration()
  ) throws -> SQLiteConnection {
    let handle = try SQLiteHandle.openInMemory(configuration)
    let connection = SQLiteConnection(handle)
    try connection.execute("PRAGMA recursive_triggers = ON")
    return connection
  }

  private static func check(
    _ file: SQLiteFile, for purpose: Purpose, _ access: SQLiteConfiguration.Access
  ) throws(SQLiteError) {
    let path = file.path
    if path.utf8.contains(0) {
      throw SQLiteError(
        .cannotOpen,
        "the path \(path.debugDescription) contains a NUL, at which the system would cut it off",
        file: path)
    }
    if access == .readOnly || access == .immutable, purpose == .writing {
      throw SQLiteError(
        .notPermitted, "\(path) cannot be written: its access is .\(access.rawValue)", file: path)
    }
    switch file.kind {
    case .file: break
    case .missing:
      if access != .create {
        let advice = purpose == .writing ? "; use the access .create to create it" : ""
        throw SQLiteError(.fileNotFound, "file not found: \(path)\(advice)", file: path)
      }
    case .folder:
      throw SQLiteError(.cannotOpen, "\(path) is a folder, not an SQLite database", file: path)
    case .other:
      throw SQLiteError(
        .cannotOpen, "\(path) is a pipe or a device, not an SQLite database", file: path)
    case .unknown(let code):
      throw SQLiteError(.notPermitted, "\(path) cannot be accessed (errno \(code))", file: path)
    }
    if case .file = file.kind, !file.isReadable {
      throw SQLiteError(.notPermitted, "\(path) is not readable", file: path)
    }
  }

  private func prepareForWriting(_ durability: SQLiteConfiguration.Durability) throws {
    // The mode does not change while others use the file, or if the file system has no shared
    // memory.
    let journal = try? fetchOne("PRAGMA journal_mode = WAL") { $0.text(at: 0) }
    // Without a WAL, the file is safe only if a commit waits for the disk.
    let synchronous = journal == "wal" && durability == .normal ? "NORMAL" : "FULL"
    try execute("PRAGMA synchronous = \(synchronous)")
    // In KiB. Changes of a transaction beyond that are written before its end, perhaps repeatedly.
    try execute("PRAGMA cache_size = -16384")
  }
}

extension SQLiteHandle {
  /// Opens a database in memory.
  ///
  /// - Throws: A ``SQLiteError``.
  fileprivate static func openInMemory(_ configuration: SQLiteConfiguration) throws -> SQLiteHandle
  {
    try open(
      ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
      of: SQLiteFile("memory"), configuration)
  }

  /// Opens a file with the flags for an access and a purpose.
  ///
  /// - Throws: A ``SQLiteError``.
  static func open(
    _ file: SQLiteFile, for purpose: SQLiteConnection.Purpose, _ configuration: SQLiteConfiguration
  ) throws -> SQLiteHandle {
    let flags: Int32? =
      switch (configuration.access, purpose) {
      case (.create, .writing): SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case (.existing, .writing): SQLITE_OPEN_READWRITE
      case (.create, .reading) where file.isMissing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      // A read-only connection cannot remove the WAL files that it has created.
      case (.create, .reading) where file.isWritable, (.existing, .reading) where file.isWritable:
        SQLITE_OPEN_READWRITE
      case (.create, .reading), (.existing, .reading), (.readOnly, _), (.immutable, _): nil
      }
    if let flags { return try open(file.path, flags, of: file, configuration) }
    return try openReadOnly(file, configuration)
  }

  /// Opens a file for reading only.
  ///
  /// - Throws: A ``SQLiteError``.
  private static func openReadOnly(
    _ file: SQLiteFile, _ configuration: SQLiteConfiguration
  ) throws -> SQLiteHandle {
    let plain = try open(file.path, SQLITE_OPEN_READONLY, of: file, configuration)
    // An immutable file is read without its WAL, which may contain changes that the file lacks.
    guard plain.isInWALMode, !file.hasWAL else { return plain }
    // SQLite has to create a file next to the database, unless nothing writes the database.
    if configuration.access == .immutable || file.isImmutable {
      return try open(
        file.immutableURI, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, of: file, configuration)
    }
    // A read-only connection could not remove that file when it closes.
    return file.isWritable
      ? try open(file.path, SQLITE_OPEN_READWRITE, of: file, configuration) : plain
  }

  /// Whether SQLite no longer counts the bytes that it allocates, as on Apple platforms. It can be
  /// configured only before its first use.
  private static let hasStoppedCountingMemory =
    composite_sqlite_stop_counting_memory() == SQLITE_OK

  private static func open(
    _ name: String, _ flags: Int32, of file: SQLiteFile, _ configuration: SQLiteConfiguration
  ) throws -> SQLiteHandle {
    _ = hasStoppedCountingMemory
    var pointer: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
    // SQLite usually returns a handle on failure, too. It has to be closed.
    guard let opened = unsafe pointer else {
      throw SQLiteError(code: code, message: "out of memory", file: file.path)
    }
    let handle = unsafe SQLiteHandle(
      owning: opened, of: file.path, busyTimeout: configuration.busyTimeout)
    guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    unsafe sqlite3_extended_result_codes(opened, 1)
    for (option, isOn) in [
      (SQLITE_DBCONFIG_ENABLE_FKEY, true), (SQLITE_DBCONFIG_DEFENSIVE, true),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, configuration.trustsSchema),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
      // A name in double quotes that is not a column is an error, not a string.
      (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
    ] { unsafe composite_sqlite_configure(opened, option, isOn ? 1 : 0) }
    for (limit, value) in [
      // `VACUUM` attaches a database.
      (SQLITE_LIMIT_ATTACHED, Int32(1)), (SQLITE_LIMIT_WORKER_THREADS, 0),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1_000), (SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    ] { unsafe sqlite3_limit(opened, limit, value) }
    return handle
  }

  /// Whether the file is in WAL mode.
  var isInWALMode: Bool { unsafe composite_sqlite_uses_log(pointer) != 0 }
}

extension SQLiteError {
  /// Whether SQLite has to create a file next to the database, and cannot.
  fileprivate var isMissingFileBeside: Bool {
    primaryCode == SQLITE_CANTOPEN || kind == .readOnlyFolder
  }
}

extension SQLiteFile {
  /// The error of a file in WAL mode that cannot be read.
  fileprivate var unreadableWALError: SQLiteError {
    if hasWAL {
      return SQLiteError(
        .notPermitted,
        """
        \(path) cannot be read here: some of its changes are still in \(path)-wal. To read them, \
        SQLite must create a file in the folder, which is not writable
        """, advice: "Copy both files to a writable folder, and open the copy", file: path)
    }
    return SQLiteError(
      .notPermitted,
      """
      \(path) cannot be read here: it is in WAL mode, for which SQLite must create a file in the \
      folder, which is not writable
      """,
      advice: """
        If nothing writes the database while it is open, open it as immutable; otherwise make the \
        folder writable, or run PRAGMA journal_mode = DELETE on the database where it can be written
        """, file: path)
  }
}
