internal import RecordOperations

/// The constraints of a table that matter for an import.
struct PostgresConstraints {
  /// Reads the constraints: name, type, whether the check is deferred, and whether it is a reference
  /// to the same table. The parameters are the names of the schema and of the table.
  static let statement = PostgresStatement(
    "read constraints",
    """
    SELECT k.conname, k.contype, k.condeferred, k.confrelid = k.conrelid
    FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid
      AND n.nspname = $1::name AND c.relname = $2::text::name
      JOIN pg_constraint AS k ON k.conrelid = c.oid AND k.contype IN ('p', 'f')
    ORDER BY k.conname
    """)

  /// The name of the primary key; nil if there is none.
  private(set) var primaryKey: String?
  /// Whether each row needs a statement of its own: otherwise a row could refer to a later one,
  /// depending on where the statement ends.
  private(set) var isRowByRow = false
  /// The deferred references of a table that was created here, to other tables and to itself.
  private var (others, itself): ([String], [String]) = ([], [])

  init() {}

  /// - Parameter rows: The rows of ``statement``.
  init(_ rows: PostgresRows, isOwn: Bool) {
    for row in 0..<rows.count {
      let name = rows.text(row, 0) ?? ""
      let isOfItself = rows.boolean(row, 3) == true
      if rows.text(row, 1) == "p" {
        primaryKey = name
      } else if rows.boolean(row, 2) != true {
        isRowByRow = isRowByRow || isOfItself
      } else if isOwn {
        if isOfItself { itself.append(name) } else { others.append(name) }
      }
    }
  }

  /// Returns the statements that check the references to other tables with each row of this
  /// transaction, so that an error belongs to a row.
  func immediate(in schema: PostgresRecordSchema) -> [PostgresRecordSession.Statement] {
    Self.set(others, "IMMEDIATE", in: schema)
  }

  /// Returns the statements that check the references to the same table now, or defer them.
  func ofItself(
    isDeferred: Bool, in schema: PostgresRecordSchema
  ) -> [PostgresRecordSession.Statement] {
    Self.set(itself, isDeferred ? "DEFERRED" : "IMMEDIATE", in: schema)
  }

  private static func set(
    _ names: [String], _ mode: String, in schema: PostgresRecordSchema
  ) -> [PostgresRecordSession.Statement] {
    if names.isEmpty { return [] }
    let list = names.map { schema.qualified($0) }.joined(separator: ", ")
    return [(PostgresStatement("set constraints", "SET CONSTRAINTS \(list) \(mode)"), [])]
  }
}
