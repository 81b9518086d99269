internal import SQLiteSupport

/// The tables of a journal in SQLite.
enum JournalSchema {
  /// "COFL", by which a journal is recognized.
  static let applicationID: Int64 = 0x434F_464C
  static let version: Int64 = 2

  /// Creates the tables in an empty file or in a file of records, or changes the tables of an earlier version.
  ///
  /// - Parameter now: Milliseconds since 1970.
  /// - Returns: Whether it has created or changed them.
  /// - Throws: A `SQLiteError`; its kind tells a file of another program and a newer version. A ``RunStoreError``
  ///   if a process uses the file in an earlier version.
  @discardableResult static func prepare(_ connection: SQLiteConnection, now: Int64) throws -> Bool
  {
    if try foundVersion(connection) == version { return false }
    var former: FormerOwners?
    let isChanged = try connection.transaction(.immediate) {
      // Another process may have done it meanwhile.
      switch try foundVersion(connection) {
      case version: return false
      case 0:
        try checkNames(connection)
        for table in tables + columns { try connection.execute(table) }
      default:
        former = try FormerOwners(connection, now: now)
        try former?.takeOver(connection, now: now)
      }
      for statement in owners + indexes { try connection.execute(statement) }
      try connection.setSchemaVersion(version, applicationID: applicationID)
      return true
    }
    former?.removeFiles()
    return isChanged
  }

  /// Checks that a connection which may not write can read the tables.
  ///
  /// - Throws: A `SQLiteError`.
  static func checkReadable(_ connection: SQLiteConnection) throws {
    let found = try connection.schemaVersion(applicationID: applicationID, latest: version)
    if found == version { return }
    throw SQLiteError(
      .notPermitted,
      found == 0
        ? "\(connection.file) has no journal yet, and cannot be written"
        : "\(connection.file) is of an earlier version, and cannot be written; open it once where it can be written",
      file: connection.file)
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
        AND lower(name) IN ('run', 'step', 'event', 'run_process', 'run_file', 'run_action', 'run_step')
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
  ]

  /// The changes of the tables since version 1.
  static let columns = [
    // How many claims in a row have ended with their process, without a finished step.
    "ALTER TABLE run ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0",
    // Whether its process has run nothing else since the claim, apart from runs above it.
    "ALTER TABLE run ADD COLUMN alone INTEGER NOT NULL DEFAULT 0",
    // How many claims in a row have ended with a failure of the store.
    "ALTER TABLE run ADD COLUMN failures INTEGER NOT NULL DEFAULT 0",
    // The position of the finished step that has received the event.
    "ALTER TABLE event ADD COLUMN step INTEGER",
  ]

  private static let owners = [
    """
    CREATE TABLE run_process (
      number INTEGER PRIMARY KEY AUTOINCREMENT, program TEXT NOT NULL, pid INTEGER NOT NULL,
      began INTEGER NOT NULL
    ) STRICT
    """
  ]

  // Suspects are few: the runs that a worker runs alone.
  private static let indexes = [
    "CREATE INDEX run_ready ON run(wake, flow) WHERE state = 'ready' AND interruptions < 2",
    "CREATE INDEX run_parked ON run(wake, flow) WHERE state = 'parked' AND interruptions < 2",
    "CREATE INDEX run_suspect ON run(wake) WHERE state IN ('ready', 'parked') AND interruptions >= 2",
    "CREATE INDEX run_exhausted ON run(flow) WHERE failures >= 10 OR interruptions >= 12",
    "CREATE INDEX run_owner ON run(owner, alone) WHERE state = 'running'",
    "CREATE INDEX run_ended ON run(ended) WHERE ended IS NOT NULL",
    "CREATE INDEX run_began ON run(began, id)",
    "CREATE INDEX run_parent ON run(parent) WHERE parent IS NOT NULL",
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
