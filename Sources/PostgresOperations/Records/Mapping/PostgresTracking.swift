/// The table and the triggers that record the state of each record, so that changes by other
/// programs count.
///
/// `record_states` has one row for each record that is or was in a tracked table. Its sequence is the
/// tag of the record, and its transaction decides when the change is reported.
enum PostgresTracking {
  /// The triggers of a table, by event.
  static let triggers = [
    "record_inserted", "record_updated", "record_deleted", "record_truncated",
  ]

  /// An expression for the tag and the time in milliseconds of a state with the alias `s`.
  static let state =
    "s.sequence || ' ' || round(date_part('epoch', s.modified) * 1000)::bigint"

  /// The domains of columns whose meaning is not only a type of PostgreSQL.
  static let (referenceDomain, nullDomain) = ("record_reference", "record_null")

  /// The channel of notifications about changes, whose payload is the name of the schema.
  static let channel = "record_changes"
  /// The trigger that sends them.
  static let notifyingTrigger = "record_notify"

  /// Returns the statements that create the trigger for notifications. The server sends equal
  /// notifications of a transaction once.
  static func notifications(in schema: PostgresRecordSchema) -> [String] {
    let function = schema.qualified(notifyingTrigger)
    return [
      """
      CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        PERFORM pg_catalog.pg_notify(''\(channel)'', TG_TABLE_SCHEMA::text);
        RETURN NULL;
      END'
      """,
      """
      CREATE TRIGGER \(notifyingTrigger) AFTER INSERT OR UPDATE ON \(schema.states) \
      FOR EACH STATEMENT EXECUTE FUNCTION \(function)()
      """,
    ]
  }

  /// Returns the statements that create the tables in a schema that exists.
  static func tables(in schema: PostgresRecordSchema) -> [String] {
    [
      """
      CREATE TABLE \(schema.states) (
        type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
        sequence bigint GENERATED ALWAYS AS IDENTITY,
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        modified timestamptz NOT NULL DEFAULT clock_timestamp(),
        deleted boolean NOT NULL, PRIMARY KEY (type, name))
      """,
      "CREATE INDEX record_states_order ON \(schema.states) (xid, sequence)",
      // The last transaction whose changes may be incomplete. Older tokens expire.
      "CREATE TABLE \(schema.quoted).record_database (forgotten xid8 NOT NULL)",
      "INSERT INTO \(schema.quoted).record_database VALUES ('0')",
      "CREATE DOMAIN \(schema.quoted).\(referenceDomain) AS text COLLATE \"C\"",
      "CREATE DOMAIN \(schema.quoted).\(nullDomain) AS text CHECK (VALUE IS NULL)",
    ]
  }

  /// Returns the statements that create the triggers of a table.
  ///
  /// The function runs with the rights of its owner, because other programs may write the table
  /// with a role that cannot write the states. Only its owner can create triggers with it.
  ///
  static func triggers(
    for name: String, key: PostgresKey, isOwn: Bool, in schema: PostgresRecordSchema
  ) -> [String] {
    let function = schema.qualified(functionName(for: name))
    let table = schema.qualified(name)
    let conflict = """
      ON CONFLICT (type, name) DO UPDATE SET deleted = excluded.deleted, sequence = DEFAULT, \
      xid = DEFAULT, modified = DEFAULT
      """
    func states(of rows: String, deleted: Bool, where condition: String = "") -> String {
      """
      INSERT INTO \(schema.states) AS s (type, name, deleted)
        SELECT TG_ARGV[0], \(key.name(of: "t")), \(deleted) FROM \(rows) AS t \(condition) \(conflict);
      """
    }
    let renamed = """
      WHERE NOT EXISTS (SELECT FROM record_new AS n WHERE \(key.name(of: "n")) = \(key.name(of: "t")))
      """
    let body = """
      BEGIN
        IF TG_OP = 'INSERT' THEN
          \(states(of: "record_new", deleted: false))
        ELSIF TG_OP = 'UPDATE' THEN
          \(states(of: "record_old", deleted: true, where: renamed))
          \(states(of: "record_new", deleted: false))
        ELSIF TG_OP = 'DELETE' THEN
          \(states(of: "record_old", deleted: true))
        ELSE
          UPDATE \(schema.states) SET deleted = true, sequence = DEFAULT, xid = DEFAULT,
            modified = DEFAULT WHERE type = TG_ARGV[0] AND NOT deleted;
        END IF;
        RETURN NULL;
      END
      """
    let call = """
      FOR EACH STATEMENT EXECUTE FUNCTION \(function)\
      (\(PostgresName.literal(name)), '\(isOwn ? "own" : "other")')
      """
    return [
      """
      CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp AS \(PostgresName.literal(body))
      """,
      "REVOKE ALL ON FUNCTION \(function)() FROM PUBLIC",
    ] + triggers.map { "DROP TRIGGER IF EXISTS \($0) ON \(table)" } + [
      """
      CREATE TRIGGER \(triggers[0]) AFTER INSERT ON \(table) \
      REFERENCING NEW TABLE AS record_new \(call)
      """,
      """
      CREATE TRIGGER \(triggers[1]) AFTER UPDATE ON \(table) \
      REFERENCING OLD TABLE AS record_old NEW TABLE AS record_new \(call)
      """,
      """
      CREATE TRIGGER \(triggers[2]) AFTER DELETE ON \(table) \
      REFERENCING OLD TABLE AS record_old \(call)
      """,
      "CREATE TRIGGER \(triggers[3]) AFTER TRUNCATE ON \(table) \(call)",
    ]
  }

  /// The name of the function of a table, whose own name may be too long to be a part of it.
  private static func functionName(for table: String) -> String {
    let hash = table.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 1_099_511_628_211
    }
    return "record_track_\(String(hash, radix: 16))"
  }

  /// Returns the statements that record the states of all rows of a table that was not tracked.
  ///
  /// If it was tracked before, the changes since then are unknown, so older tokens expire.
  static func initialStates(
    of name: String, key: PostgresKey, in schema: PostgresRecordSchema
  ) -> [String] {
    let type = PostgresName.literal(name)
    let table = schema.qualified(name)
    return [
      """
      UPDATE \(schema.quoted).record_database SET forgotten = pg_current_xact_id()
      WHERE EXISTS (SELECT FROM \(schema.states) WHERE type = \(type))
      """,
      """
      DELETE FROM \(schema.states) AS s WHERE type = \(type) AND (NOT deleted OR EXISTS (
        SELECT FROM \(table) AS t WHERE \(key.name(of: "t")) = s.name))
      """,
      """
      INSERT INTO \(schema.states) (type, name, deleted)
      SELECT \(type), \(key.name(of: "t")), false FROM \(table) AS t
      """,
    ]
  }
}
