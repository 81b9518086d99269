internal import CSQLite

extension SQLiteConnection {
  /// Runs a body whose statements run no trigger, except temporary ones. Foreign keys still apply.
  ///
  /// The statements of the connection are prepared again before and after the body, because they
  /// contain their triggers.
  ///
  /// - Throws: The error of the body.
  package func withoutTriggers<Result>(_ body: () throws -> Result) rethrows -> Result {
    defer { unsafe composite_sqlite_configure(handle.pointer, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1) }
    unsafe composite_sqlite_configure(handle.pointer, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    return try body()
  }
}
