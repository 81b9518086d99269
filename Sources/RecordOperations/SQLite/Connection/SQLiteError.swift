internal import CSQLite

/// An error that SQLite reports for a statement or a file.
package struct SQLiteError: Error, CustomStringConvertible {
  /// The extended result code.
  package let code: Int32
  /// SQLite's message.
  package let message: String
  /// The beginning of the statement; empty if there is none.
  package let sql: String
  /// The path of the database.
  package let file: String

  package init(code: Int32, message: String, sql: String = "", file: String) {
    self.code = code
    self.message = message
    self.sql = sql.count > 120 ? "\(sql.prefix(120))…" : sql
    self.file = file
  }

  /// Creates an error from the last error of a connection.
  init(_ code: Int32, of handle: SQLiteHandle, sql: String = "") {
    let extended = unsafe sqlite3_extended_errcode(handle.pointer)
    let text = unsafe sqlite3_errmsg(handle.pointer).map { unsafe String(cString: $0) }
    // The code of the connection is the one of its last call, which may be another call.
    self.init(
      code: extended & 0xFF == code & 0xFF ? extended : code, message: text ?? "",
      sql: sql, file: handle.file)
  }

  /// The result code without its extension.
  package var primaryCode: Int32 { code & 0xFF }

  package var description: String {
    "SQLite \(code): \(message)\(sql.isEmpty ? "" : " (\(sql))") in \(file)"
  }
}
