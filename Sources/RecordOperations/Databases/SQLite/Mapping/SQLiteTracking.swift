internal import SQLiteSupport

/// The tables and triggers that record the state of each record, so that changes by other programs
/// count.
///
/// `_record_states` has one row for each record that is or was in a tracked table. Its sequence is
/// the tag of the record. Sequences increase in the order of the changes.
enum SQLiteTracking {
  /// The current time, in the format of `Date.text`.
  static let now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

  /// The statements that create the tables.
  static let tables = [
    """
    CREATE TABLE "_record_states" (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, name TEXT NOT NULL,
      modified TEXT NOT NULL, deleted INTEGER NOT NULL, UNIQUE (type, name)
    )
    """,
    // The types whose tables were created here.
    """
    CREATE TABLE "_record_types" (type TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID
    """,
    // The identity of the database, and the last sequence whose deletion was forgotten.
    """
    CREATE TABLE "_record_database" (identity TEXT NOT NULL, forgotten INTEGER NOT NULL)
    """,
    """
    INSERT INTO "_record_database" VALUES (lower(hex(randomblob(16))), 0)
    """,
  ]

  /// The table in which mirrors keep what they know about records.
  static let mirrorBases = "_record_mirror_bases"

  /// A condition for states of records that no mirror knows.
  static let isUnknownToMirrors = """
    NOT EXISTS (SELECT 1 FROM "\(mirrorBases)" AS b \
    WHERE b.type = "_record_states".type AND b.name = "_record_states".name)
    """

  static func triggerNames(for table: String) -> [String] {
    ["inserted", "updated", "renamed", "deleted"].map { "_record_\($0)_\(table)" }
  }

  /// Returns the statements that create the triggers of a table.
  ///
  /// The triggers delete and insert instead of using `REPLACE`, because a trigger adopts the
  /// conflict policy of its statement: within `INSERT OR IGNORE`, it would not replace the row.
  ///
  /// - Throws: A ``RecordError`` if the name of the table contains a NUL.
  static func triggers(for table: SQLiteTable) throws -> [String] {
    let names = try triggerNames(for: table.name).map(SQLiteName.quoted)
    let target = try SQLiteName.quoted(table.name)
    let type = try SQLiteName.literal(table.name)
    let (old, new) = (try table.key.name(of: "OLD"), try table.key.name(of: "NEW"))
    let (oldIsNamed, newIsNamed) = (
      try table.key.isNamed("OLD") ?? "1", try table.key.isNamed("NEW") ?? "1"
    )
    func state(_ name: String, deleted: Int) -> String {
      """
      DELETE FROM "_record_states" WHERE type = \(type) AND name = \(name); \
      INSERT INTO "_record_states" (type, name, modified, deleted) \
      VALUES (\(type), \(name), \(now), \(deleted));
      """
    }
    return [
      "\(names[0]) AFTER INSERT ON \(target) WHEN \(newIsNamed) BEGIN \(state(new, deleted: 0)) END",
      "\(names[1]) AFTER UPDATE ON \(target) WHEN \(newIsNamed) BEGIN \(state(new, deleted: 0)) END",
      """
      \(names[2]) AFTER UPDATE ON \(target) WHEN \(oldIsNamed) AND (\(old)) COLLATE BINARY IS NOT (\(new)) \
      BEGIN \(state(old, deleted: 1)) END
      """,
      "\(names[3]) AFTER DELETE ON \(target) WHEN \(oldIsNamed) BEGIN \(state(old, deleted: 1)) END",
    ].map { "CREATE TRIGGER \($0)" }
  }
}

extension SQLiteConnection {
  /// Creates the tables for the states of records, unless they exist.
  ///
  /// - Throws: A ``SQLiteError``.
  func createTrackingTables() throws {
    if try hasTrackingTables() { return }
    for sql in SQLiteTracking.tables { try execute(sql) }
  }

  /// Records the states of new records as the triggers of their table would.
  ///
  /// - Throws: A ``SQLiteError``, also if a record already has a state, as a deleted record does.
  func insertStates(of names: [String], _ type: String) throws {
    let now = try fetchOne("SELECT \(SQLiteTracking.now)") { $0.text(at: 0) } ?? nil
    try insert(
      names.count, into: "\"_record_states\"",
      constants: ["type": .text(type), "modified": .optional(now), "deleted": .integer(0)], ["name"]
    ) { statement, index, place in
      try statement.bind(names[index], at: place)
    }
  }

  /// Tracks the states of all records of a table from now on. Must be called in a transaction.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError`` if it is not a table, or its rows have no key.
  func track(_ table: SQLiteTable) throws {
    guard table.kind == .table, table.key != .none else {
      throw RecordError(
        .unsupported("\(table.name) can only be queried: it is not a table whose rows have a key"))
    }
    try createTrackingTables()
    // Triggers from before the table was renamed.
    let others = try fetchAll(
      """
      SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 \
      AND instr(sql, '"_record_states"') > 0
      """,
      [.text(table.name)]
    ) { $0.text(at: 0) ?? "" }
    let prefixes = SQLiteTracking.triggerNames(for: "")
    for name in others where prefixes.contains(where: name.hasPrefix) {
      try execute("DROP TRIGGER \(SQLiteName.quoted(name))")
    }
    // The triggers of an earlier table of this name have moved with it when it was renamed.
    for name in SQLiteTracking.triggerNames(for: table.name) {
      try execute("DROP TRIGGER IF EXISTS \(SQLiteName.quoted(name))")
    }
    for sql in try SQLiteTracking.triggers(for: table) { try execute(sql) }
    let type = try SQLiteName.literal(table.name)
    let names =
      "SELECT \(try table.key.name(of: "t")) FROM \(try SQLiteName.quoted(table.name)) AS t"
    if try hasTable(SQLiteTracking.mirrorBases) {
      // No trigger has recorded that a record was deleted, so mirrors restore it.
      try execute(
        """
        UPDATE "\(SQLiteTracking.mirrorBases)" AS b SET waiting = fields, waiting_tag = tag, \
        sequence = 0, pending = pending & ~5 | 2 WHERE type = \(type) AND tag IS NOT NULL \
        AND name NOT IN (\(names)) AND EXISTS (SELECT 1 FROM "_record_states" AS s \
        WHERE s.type = b.type AND s.name = b.name AND s.deleted = 0)
        """)
    }
    // The recorded deletions remain.
    try execute(
      """
      DELETE FROM "_record_states" WHERE type = \(type) AND (deleted = 0 OR name IN (\(names)))
      """)
    if changeCount > 0 {
      // The table was replaced, or changed without its triggers, so the changes since then are
      // unknown. Older tokens expire.
      try execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = '_record_states'")
      try execute(
        """
        UPDATE "_record_database" SET forgotten = \
        (SELECT seq FROM sqlite_sequence WHERE name = '_record_states')
        """)
    }
    let condition = try table.key.isNamed("t").map { " WHERE \($0)" } ?? ""
    try execute(
      """
      INSERT INTO "_record_states" (type, name, modified, deleted) \
      SELECT \(type), \(table.key.name(of: "t")), \(SQLiteTracking.now), 0 \
      FROM \(SQLiteName.quoted(table.name)) AS t\(condition)
      """)
    schema.changed()
  }
}
