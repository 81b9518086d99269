internal import CSQLite

/// An owned `sqlite3` pointer, closed when the connection and all of its statements are
/// deallocated.
///
/// `@unchecked Sendable` because another thread may call ``interrupt()``. SQLite allows this while
/// the database is open, which it is as long as the handle exists. Everything else is used only on
/// the thread of the connection, which is not `Sendable` and alone gives access to it.
@safe final class SQLiteHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  /// The path of the file, for errors.
  let file: String
  /// Returns whether the task of the current request is cancelled.
  var isCancelled: () -> Bool = { false }
  /// Whether to wait while other connections have locked the file.
  var waitsForLocks = true
  /// How long to wait for a lock.
  private let busyTimeout: Duration
  private var busySince: ContinuousClock.Instant?

  /// Takes ownership of a database, and installs its handlers.
  init(owning pointer: OpaquePointer, of file: String, busyTimeout: Duration) {
    unsafe self.pointer = unsafe pointer
    self.file = file
    self.busyTimeout = busyTimeout
    // Unretained is safe: no statement runs when the handle is deallocated.
    let this = unsafe Unmanaged.passUnretained(self).toOpaque()
    // 10,000 instructions of SQLite's virtual machine take less than a millisecond.
    unsafe sqlite3_progress_handler(
      pointer, 10_000,
      { context in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<SQLiteHandle>.fromOpaque(context).takeUnretainedValue()
          .isCancelled() ? 1 : 0
      }, this)
    unsafe sqlite3_busy_handler(
      pointer,
      { context, attempts in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<SQLiteHandle>.fromOpaque(context).takeUnretainedValue()
          .waitsForLock(afterAttempts: attempts) ? 1 : 0
      }, this)
  }

  deinit { unsafe sqlite3_close_v2(pointer) }

  /// Interrupts the running statement. Can be called from any thread.
  func interrupt() { unsafe sqlite3_interrupt(pointer) }

  /// Waits before the next attempt to get a lock.
  ///
  /// - Parameter attempts: The number of earlier attempts to get this lock.
  /// - Returns: Whether to try again.
  private func waitsForLock(afterAttempts attempts: Int32) -> Bool {
    guard waitsForLocks else { return false }
    let now = ContinuousClock.now
    if attempts == 0 { busySince = now }
    guard let busySince, now - busySince < busyTimeout, !isCancelled() else { return false }
    // In milliseconds. The first waits are short, because most locks are.
    sqlite3_sleep(min(attempts + 1, 20))
    return true
  }
}

extension SQLiteError {
  /// Creates an error from the last error of a connection.
  init(_ code: Int32, of handle: SQLiteHandle, sql: String = "") {
    let extended = unsafe sqlite3_extended_errcode(handle.pointer)
    let text = unsafe sqlite3_errmsg(handle.pointer).map { unsafe String(cString: $0) }
    // The code of the connection is the one of its last call, which may be another call.
    self.init(
      code: extended & 0xFF == code & 0xFF ? extended : code, message: text ?? "", sql: sql,
      file: handle.file)
  }
}
