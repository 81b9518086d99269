internal import SQLiteSupport
internal import SystemSupport

// A journal knows the number of its file, which a copy does not have.
extension SQLiteConnection {
  /// Stores the number of this file, which programs use from now on.
  ///
  /// - Throws: A `SQLiteError`.
  func markAsUsed() throws {
    guard let fileNumber else { return }
    try execute(
      "CREATE TABLE IF NOT EXISTS run_file (id INTEGER PRIMARY KEY CHECK (id = 0), number INTEGER NOT NULL) STRICT"
    )
    try execute("INSERT OR REPLACE INTO run_file VALUES (0, ?1)", [.integer(fileNumber)])
  }

  /// Whether the file was copied since a program has used it.
  ///
  /// - Throws: A `SQLiteError`.
  var isUnusedCopy: Bool {
    get throws {
      let hasNumber = try fetchOne("SELECT 1 FROM sqlite_schema WHERE name = 'run_file'") { _ in
        true
      }
      guard hasNumber == true, let fileNumber else { return false }
      let used = try fetchOne("SELECT number FROM run_file") { $0.integer(at: 0) }
      return used != fileNumber
    }
  }

  /// Nil if the file has no path any more.
  private var fileNumber: Int64? {
    (try? FileStatus(ofFile: file)).map { Int64(bitPattern: $0.identity.number) }
  }
}
