internal import CSQLite

/// An open database of the library: closed, once, when the connection and all of its statements are gone.
///
/// It is `Sendable` because another thread may call ``interrupt()``, which the library allows as long as the database
/// is open, and it is as long as there is a handle. All else belongs to the thread of the connection, which is not
/// `Sendable` and alone gives access to it.
@safe final class SQLiteHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  /// The file, for errors.
  let file: String
  /// Whether those who wait for what the connection does have lost interest.
  var isCancelled: () -> Bool = { false }
  /// Whether it waits while other connections have the file locked.
  var waitsForLocks = true
  /// How long it does.
  private let busyTimeout: Duration
  private var busySince: ContinuousClock.Instant?

  /// Takes over a database.
  init(owning pointer: OpaquePointer, of file: String, busyTimeout: Duration) {
    unsafe self.pointer = unsafe pointer
    self.file = file
    self.busyTimeout = busyTimeout
    // It is not retained: no statement runs any more when it goes away.
    let this = unsafe Unmanaged.passUnretained(self).toOpaque()
    // So many instructions of the library's machine take less than a millisecond.
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
          .waitsOn(attempts) ? 1 : 0
      }, this)
  }

  deinit { unsafe sqlite3_close_v2(pointer) }

  /// Ends what it does at this moment. It may be called from any thread.
  func interrupt() { unsafe sqlite3_interrupt(pointer) }

  /// - Parameter attempts: How often it has waited for the same lock already.
  private func waitsOn(_ attempts: Int32) -> Bool {
    guard waitsForLocks else { return false }
    let now = ContinuousClock.now
    if attempts == 0 { busySince = now }
    guard let busySince, now - busySince < busyTimeout, !isCancelled() else { return false }
    // Milliseconds: at first short ones, since most locks are.
    sqlite3_sleep(min(attempts + 1, 20))
    return true
  }
}
