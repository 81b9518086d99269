/// Statements that read the definitions of tables. The parameters are the name of the schema and
/// the names of the tables.
enum PostgresSchemaStatements {
  /// The names of the tables with a version of each, which changes with every change to its
  /// definition: the transactions that last changed its rows in the catalogs, and the privileges of this role.
  static let versions = PostgresStatement(
    "read the versions of tables", "SELECT c.relname, \(version) \(from)")

  /// The tables: name, version, kind, whether it is a partition, the triggers that track it, whether
  /// it was created here, and whether this role may read the table, lock its rows, and read and change the states of records.
  static let tables = PostgresStatement(
    "read tables",
    """
    SELECT c.relname, \(version), c.relkind, c.relispartition,
      (SELECT count(*) FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND g.tgenabled IN ('O', 'A')
        AND g.tgname IN (\(PostgresTracking.triggers.map { "'\($0)'" }.joined(separator: ", ")))
        AND g.tgargs = \(arguments("c.relname"))),
      \(isOwn("c.oid")), has_any_column_privilege(c.oid, 'SELECT'),
      has_any_column_privilege(c.oid, 'UPDATE'), coalesce(
        has_table_privilege(to_regclass(quote_ident($1::text) || '.record_states'), 'SELECT'), false),
      coalesce(
        has_table_privilege(to_regclass(quote_ident($1::text) || '.record_states'), 'UPDATE'), false)
    \(from)
    """)

  /// The columns: table, name, type, name for casts, base type, kind of type, modifier, whether a
  /// collation is not deterministic, and whether it is generated.
  static let columns = PostgresStatement(
    "read columns",
    """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      format_type(CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE a.atttypid END, -1),
      CASE WHEN y.typtype = 'd' THEN b.typname ELSE y.typname END,
      CASE WHEN y.typtype = 'd' THEN b.typtype ELSE y.typtype END,
      CASE WHEN y.typtype = 'd' THEN y.typtypmod ELSE a.atttypmod END,
      CASE WHEN y.typtype = 'd' AND y.typnamespace = n.oid THEN y.typname END,
      a.attgenerated <> '' OR a.attidentity = 'a'
    \(from) JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type AS y ON y.oid = a.atttypid LEFT JOIN pg_type AS b ON b.oid = y.typbasetype
    ORDER BY c.relname, a.attnum
    """)

  /// The columns: table, name, type, number, and whether rows that existed before the column may have a value in it.
  static let numberedColumns = PostgresStatement(
    "read the numbers of columns",
    """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnum,
      a.atthasdef OR a.atthasmissing OR a.attgenerated <> '' OR a.attidentity <> ''
    \(from) JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    """)

  /// The constraints of columns: table, name, whether it takes no null, and the expression of its default.
  static let columnConstraints = PostgresStatement(
    "read the constraints of columns",
    """
    SELECT c.relname, a.attname, a.attnotnull OR y.typnotnull, pg_get_expr(d.adbin, d.adrelid)
    \(from) JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND a.attgenerated = '' AND a.attidentity = ''
      JOIN pg_type AS y ON y.oid = a.atttypid
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE a.attnotnull OR y.typnotnull OR d.oid IS NOT NULL
    ORDER BY c.relname, a.attnum
    """)

  /// The UNIQUE constraints and indexes of all rows that are checked with each statement, and in which nulls are
  /// different: table and columns.
  static let uniqueIndexes = PostgresStatement(
    "read unique indexes",
    """
    SELECT c.relname, to_json(ARRAY(SELECT a.attname FROM unnest(i.indkey[0:i.indnkeyatts - 1])
        WITH ORDINALITY AS k(number, place) JOIN pg_attribute AS a
          ON a.attrelid = c.oid AND a.attnum = k.number ORDER BY k.place))::text
    \(from) JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary
        AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
        AND to_jsonb(i) ->> 'indnullsnotdistinct' IS DISTINCT FROM 'true'
    ORDER BY c.relname, i.indexrelid
    """)

  /// The primary and the foreign keys: table, kind, columns, parent, whether the parent is in the
  /// schema, whether the referenced columns are its primary key, the action of a deletion, and
  /// whether the parent was created here.
  static let keys = PostgresStatement(
    "read keys",
    """
    SELECT c.relname, k.contype, to_json(ARRAY(SELECT a.attname FROM unnest(k.conkey)
        WITH ORDINALITY AS i(number, place) JOIN pg_attribute AS a
          ON a.attrelid = c.oid AND a.attnum = i.number ORDER BY i.place))::text,
      p.relname, p.relnamespace = n.oid AND p.relkind = 'r', EXISTS (SELECT FROM pg_constraint AS m
        WHERE m.conrelid = p.oid AND m.contype = 'p' AND m.conkey = k.confkey), k.confdeltype,
      \(isOwn("p.oid"))
    \(from) JOIN pg_constraint AS k ON k.conrelid = c.oid AND k.contype IN ('p', 'f')
      LEFT JOIN pg_class AS p ON p.oid = k.confrelid
    ORDER BY c.relname, k.oid
    """)

  /// The names of the tables that refer to a table; its name is the only element of the second
  /// parameter.
  static let children = PostgresStatement(
    "find foreign keys",
    """
    SELECT DISTINCT d.relname \(from) JOIN pg_constraint AS k ON k.confrelid = c.oid
      AND k.contype = 'f' JOIN pg_class AS d ON d.oid = k.conrelid AND d.relnamespace = n.oid
    """)

  private static let from = """
    FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid
      AND n.nspname = $1::name AND c.relname = ANY($2::text[]::name[])
      AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    """

  private static let version = """
    c.oid || ' ' || c.xmin || ' ' || coalesce((
      SELECT string_agg(a.attnum || ':' || a.xmin, ',' ORDER BY a.attnum)
      FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0), '') || ' ' || coalesce((
      SELECT string_agg(k.oid || ':' || k.xmin || ':' || coalesce(p.xmin::text, ''), ',' ORDER BY k.oid)
      FROM pg_constraint AS k LEFT JOIN pg_class AS p ON p.oid = k.confrelid
      WHERE k.conrelid = c.oid), '') || ' ' || coalesce((
      SELECT string_agg(g.oid || ':' || g.xmin, ',' ORDER BY g.oid)
      FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal), '')
      || ' ' || has_any_column_privilege(c.oid, 'SELECT') || has_any_column_privilege(c.oid, 'UPDATE')
    """

  /// An expression for the arguments of the triggers, which are the name of the table and whether
  /// it was created here, each followed by a zero byte.
  private static func arguments(_ name: String) -> String {
    """
    ANY (ARRAY[convert_to(\(name), 'UTF8') || '\\x006f776e00'::bytea, \
    convert_to(\(name), 'UTF8') || '\\x006f7468657200'::bytea])
    """
  }

  private static func isOwn(_ table: String) -> String {
    """
    EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = \(table) \
    AND g.tgname = '\(PostgresTracking.triggers[0])' \
    AND substring(g.tgargs FROM length(g.tgargs) - 4) = '\\x006f776e00'::bytea)
    """
  }
}
