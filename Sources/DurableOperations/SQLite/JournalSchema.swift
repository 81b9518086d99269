internal import SQLiteSupport

/// The tables of a journal in SQLite.
enum JournalSchema {
  /// "COFL", by which a journal is recognized.
  static let applicationID: Int64 = 0x434F_464C
  static let version: Int64 = 1

  /// Creates the tables in an empty file, or in a file of records.
  ///
  /// - Throws: A `SQLiteError`; its kind tells a file of another program and a newer version.
  static func prepare(_ connection: SQLiteConnection) throws {
    if try foundVersion(connection) == version { return }
    try connection.transaction(.immediate) {
      // Another process may have created them meanwhile.
      if try foundVersion(connection) == version { return }
      try checkNames(connection)
      for table in tables { try connection.execute(table) }
      try connection.setSchemaVersion(version, applicationID: applicationID)
    }
  }

  /// - Returns: 0 if the tables are to be created.
  private static func foundVersion(_ connection: SQLiteConnection) throws -> Int64 {
    if try connection.isFileOfRecords { return 0 }
    return try connection.schemaVersion(applicationID: applicationID, latest: version)
  }

  /// - Throws: A `SQLiteError` if the file has a table with the name of one of the journal.
  private static func checkNames(_ connection: SQLiteConnection) throws {
    let name = try connection.fetchOne(
      """
      SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
        AND lower(name) IN ('run', 'step', 'event', 'owner')
      """
    ) { $0.text(at: 0) ?? "" }
    guard let name else { return }
    throw SQLiteError(
      .foreignFile, "\(connection.file) has a table \(name), whose name the journal needs",
      advice: "give these records another type, or use another file for the journal",
      file: connection.file)
  }

  // A finished step has the empty key. The other keys belong to the step in progress, whose position
  // is the number of finished steps.
  //
  // The checks are comparisons, because SQLite makes a table for an `IN` with more than two values
  // whenever it checks a row, which takes longer than the insert.
  private static let tables = [
    """
    CREATE TABLE run (
      id TEXT PRIMARY KEY, flow TEXT NOT NULL, sequence TEXT NOT NULL, initial TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'parked'
        OR state = 'stuck' OR state = 'result' OR state = 'error' OR state = 'cancelled'),
      fence INTEGER NOT NULL DEFAULT 0, owner INTEGER, claims INTEGER NOT NULL DEFAULT 0,
      wake INTEGER, event TEXT, cancelled INTEGER, reason TEXT, outcome TEXT,
      parent TEXT REFERENCES run ON DELETE CASCADE,
      began INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX run_due ON run(wake, flow) WHERE state IN ('ready', 'parked')",
    "CREATE INDEX run_owner ON run(owner) WHERE state = 'running'",
    "CREATE INDEX run_ended ON run(ended) WHERE ended IS NOT NULL",
    "CREATE INDEX run_began ON run(began, id)",
    "CREATE INDEX run_parent ON run(parent) WHERE parent IS NOT NULL",
    """
    CREATE TABLE step (
      run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,
      key TEXT NOT NULL, name TEXT NOT NULL, types TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind = 'result' OR kind = 'error' OR kind = 'cancelled'
        OR kind = 'attempts' OR kind = 'wake'),
      value TEXT, sequence TEXT, attempts INTEGER NOT NULL, fence INTEGER NOT NULL,
      began INTEGER NOT NULL, ended INTEGER NOT NULL,
      PRIMARY KEY (run, position, key)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE event (
      run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL,
      payload TEXT NOT NULL, sent INTEGER NOT NULL, PRIMARY KEY (run, name)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE owner (
      number INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT NOT NULL, pid INTEGER NOT NULL,
      began INTEGER NOT NULL
    ) STRICT
    """,
  ]
}

extension SQLiteConnection {
  /// Whether the file contains records that this package has saved, and belongs to no other program.
  fileprivate var isFileOfRecords: Bool {
    get throws {
      try fetchOne(
        """
        SELECT 1 FROM sqlite_schema, pragma_application_id, pragma_user_version
        WHERE name = '_record_database' AND application_id = 0 AND user_version = 0
        """
      ) { _ in true } ?? false
    }
  }
}
