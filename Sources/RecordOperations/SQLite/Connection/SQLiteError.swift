internal import CSQLite

/// What SQLite says against a statement, or against a file.
package struct SQLiteError: Error, CustomStringConvertible {
  /// The extended result code.
  package let code: Int32
  /// What SQLite says about it.
  package let message: String
  /// The beginning of the statement; empty where there is none.
  package let sql: String
  /// The path of the database.
  package let file: String

  package init(code: Int32, message: String, sql: String = "", file: String) {
    self.code = code
    self.message = message
    self.sql = sql.count > 120 ? "\(sql.prefix(120))…" : sql
    self.file = file
  }

  /// The last one of a database.
  init(_ code: Int32, of handle: SQLiteHandle, sql: String = "") {
    let extended = unsafe sqlite3_extended_errcode(handle.pointer)
    let text = unsafe sqlite3_errmsg(handle.pointer).map { unsafe String(cString: $0) }
    // The code of the database is that of its last call, which need not be this one.
    self.init(
      code: extended & 0xFF == code & 0xFF ? extended : code, message: text ?? "",
      sql: sql, file: handle.file)
  }

  /// The result code without what is said more precisely.
  package var primaryCode: Int32 { code & 0xFF }

  package var description: String {
    "SQLite \(code): \(message)\(sql.isEmpty ? "" : " (\(sql))") in \(file)"
  }
}
