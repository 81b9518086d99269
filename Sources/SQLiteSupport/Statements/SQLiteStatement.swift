internal import CSQLite

/// A prepared statement, finalized when it is deallocated.
///
/// Belongs to the thread of its connection, and is not `Sendable`.
///
/// Parameters are numbered from 1 and columns from 0, as in SQLite.
@safe package final class SQLiteStatement {
  package let sql: String
  let pointer: OpaquePointer
  let handle: SQLiteHandle
  private var isRunning = false

  /// Prepares a statement.
  ///
  /// - Throws: A ``SQLiteError`` if the SQL is invalid, is not a single statement, or names
  ///   something that does not exist.
  convenience init(_ sql: String, on handle: SQLiteHandle, isCached: Bool) throws {
    var pointer: OpaquePointer?
    var length = 0
    var text = sql
    let code = text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        var end: UnsafePointer<CChar>?
        let code = unsafe sqlite3_prepare_v3(
          handle.pointer, characters.baseAddress, Int32(clamping: characters.count),
          isCached ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &pointer, &end)
        if let end = unsafe end, let start = characters.baseAddress {
          length = unsafe start.distance(to: end)
        }
        return code
      }
    }
    guard code == SQLITE_OK else { throw SQLiteError(code, of: handle, sql: sql) }
    let isOne = sql.utf8.dropFirst(length).allSatisfy { $0 <= 0x20 && $0 != 0 || $0 == 0x3B }
    guard let prepared = unsafe pointer, isOne else {
      unsafe sqlite3_finalize(pointer)
      throw SQLiteError(
        code: SQLITE_MISUSE,
        message: isOne ? "it contains no statement" : "it contains more than one statement",
        sql: sql, file: handle.file)
    }
    unsafe self.init(owning: prepared, sql, on: handle)
  }

  /// Takes ownership of a statement.
  private init(owning pointer: OpaquePointer, _ sql: String, on handle: SQLiteHandle) {
    unsafe self.pointer = unsafe pointer
    self.sql = sql
    self.handle = handle
  }

  deinit { unsafe sqlite3_finalize(pointer) }

  /// Advances to the next row.
  ///
  /// - Returns: Whether there is a next row.
  /// - Throws: A ``SQLiteError``; its code is `SQLITE_INTERRUPT` if the task is cancelled.
  // The optimizer of Swift 6.3 fails in a function into which this one is inlined.
  @inline(never)
  package func step() throws -> Bool {
    // SQLite ignores an interruption between two statements.
    if !isRunning, handle.isCancelled() {
      throw SQLiteError(
        code: SQLITE_INTERRUPT, message: "cancelled", sql: sql, file: handle.file)
    }
    isRunning = true
    switch unsafe sqlite3_step(pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      isRunning = false
      return false
    case let code:
      // The busy handler stops waiting if the task is cancelled.
      let interrupted = code & 0xFF == SQLITE_BUSY && handle.isCancelled()
      let error = SQLiteError(interrupted ? SQLITE_INTERRUPT : code, of: handle, sql: sql)
      reset()
      throw error
    }
  }

  /// Steps to the end, and resets the statement.
  package func run() throws {
    while try step() {}
    reset()
  }

  /// Resets the statement for another run, with the same values.
  package func reset() {
    isRunning = false
    // The result is the error of the last step.
    unsafe sqlite3_reset(pointer)
  }

  /// Resets the statement for another run, with nulls.
  package func clear() {
    reset()
    unsafe sqlite3_clear_bindings(pointer)
  }
}

// MARK: Binding

extension SQLiteStatement {
  /// Binds a value.
  ///
  /// - Throws: A ``SQLiteError`` if there is no such parameter, or if the value is too large.
  package func bind(_ value: SQLiteValue, at index: Int) throws {
    switch value {
    case .null: try bindNull(at: index)
    case .integer(let number): try bind(number, at: index)
    case .real(let number): try bind(number, at: index)
    case .text(let text): try bind(text, at: index)
    case .illFormedText(let bytes):
      try unsafe bytes.withUnsafeBytes { try unsafe bindText($0, at: index, isCopied: true) }
    case .blob(let bytes):
      try unsafe bytes.withUnsafeBytes { try unsafe bindBlob($0, at: index, isCopied: true) }
    }
  }

  package func bindNull(at index: Int) throws {
    try check(unsafe sqlite3_bind_null(pointer, Int32(index)))
  }

  package func bind(_ number: Int64, at index: Int) throws {
    try check(unsafe sqlite3_bind_int64(pointer, Int32(index), number))
  }

  package func bind(_ number: Double, at index: Int) throws {
    try check(unsafe sqlite3_bind_double(pointer, Int32(index), number))
  }

  package func bind(_ text: String, at index: Int) throws {
    var text = text
    try text.withUTF8 {
      try unsafe bindText(UnsafeRawBufferPointer($0), at: index, isCopied: true)
    }
  }

  /// Binds values from parameter 1.
  package func bind(_ values: [SQLiteValue]) throws {
    for index in values.indices { try bind(values[index], at: index + 1) }
  }

  /// Binds bytes as text.
  ///
  /// - Parameter isCopied: Whether SQLite copies the bytes. Pass false only if they stay valid
  ///   until the statement has been reset and another value is bound in their place.
  package func bindText(
    _ bytes: UnsafeRawBufferPointer, at index: Int, isCopied: Bool
  ) throws {
    let copying = unsafe isCopied ? composite_sqlite_transient() : nil
    // Without an address, SQLite would bind null.
    guard let address = bytes.baseAddress, bytes.count > 0 else {
      return try check(unsafe sqlite3_bind_text64(pointer, Int32(index), "", 0, nil, utf8))
    }
    try check(
      unsafe sqlite3_bind_text64(
        pointer, Int32(index), address.assumingMemoryBound(to: CChar.self),
        UInt64(bytes.count), copying, utf8))
  }

  /// Binds bytes as a blob.
  ///
  /// - Parameter isCopied: Whether SQLite copies the bytes. Pass false only if they stay valid
  ///   until the statement has been reset and another value is bound in their place.
  package func bindBlob(
    _ bytes: UnsafeRawBufferPointer, at index: Int, isCopied: Bool
  ) throws {
    let copying = unsafe isCopied ? composite_sqlite_transient() : nil
    guard let address = bytes.baseAddress, bytes.count > 0 else {
      return try check(unsafe sqlite3_bind_zeroblob(pointer, Int32(index), 0))
    }
    try check(
      unsafe sqlite3_bind_blob64(pointer, Int32(index), address, UInt64(bytes.count), copying))
  }

  private var utf8: UInt8 { UInt8(SQLITE_UTF8) }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw SQLiteError(code, of: handle, sql: sql) }
  }
}
