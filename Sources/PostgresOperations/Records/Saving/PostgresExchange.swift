internal import RecordOperations

/// The saves of a batch that take unique values from one another, in the transaction of the batch.
struct PostgresExchange: UniqueExchanging {
  private static let point = PostgresSavepoint("record_exchange")

  let session: PostgresRecordSession
  let changes: [RecordID: RecordChange]
  /// The saves of records that were set aside, as they were decided before. Their rows are locked, so
  /// the conditions are still true.
  private var prepared: [RecordID: PostgresSave] = [:]

  init(_ session: PostgresRecordSession, _ changes: [RecordID: RecordChange]) {
    (self.session, self.changes) = (session, changes)
  }

  func attempt(_ id: RecordID) throws -> UniqueAttempt<RecordReply> {
    guard let change = changes[id] else { preconditionFailure("the change must be one of these") }
    var plan = try session.lockedPlan(of: [change])
    let step = prepared[id].map { .save($0) } ?? plan.step(change)
    let prevented = RecordError(.invalid("a trigger of \(id.type) prevented the change"), of: id)
    guard let run = PostgresRun.runs(of: [step]).first, case .save(let save) = step else {
      if case .failed(let error) = step { return .refused(error, holder: nil) }
      return .refused(prevented, holder: nil)
    }
    let (rows, refusal) = try session.changing(run.statements(in: session.schema))
    guard let refusal else {
      guard let reply = run.replies(rows[0], rows[1])?.first else {
        return .refused(prevented, holder: nil)
      }
      return .saved(reply)
    }
    return .refused(
      try session.failure(refusal, of: change, plan),
      holder: try session.holder(of: save, refusedBy: refusal))
  }

  mutating func setAside(_ holder: UniqueHolder, number: Int) throws -> Bool {
    guard let change = changes[holder.id] else { return false }
    var plan = try session.lockedPlan(of: [change])
    let step = prepared[holder.id].map { .save($0) } ?? plan.step(change)
    guard case .save(let save) = step, !save.isInsertion else { return false }
    let columns = save.columns.filter { holder.columns.contains($0.name) }
    for value in Self.otherValues(number) {
      for column in columns {
        let keys = save.table.key.columns.enumerated().map {
          "t.\($1.quoted) = $\($0 + 2)::\($1.castType)"
        }
        let sql = """
          UPDATE \(save.table.quoted) AS t SET \(column.quoted) = $1::\(column.castType) \
          WHERE \(keys.joined(separator: " AND "))
          """
        let statement = PostgresStatement("set aside in \(save.table.name)", sql)
        let parameters = ([value] + save.key).map { $0.map { PostgresValue.text($0) } ?? .null }
        let (rows, refusal) = try session.changing([(statement, parameters)])
        if refusal == nil, rows[0].affectedCount == 1 {
          prepared[holder.id] = save.withoutTag
          return true
        }
      }
    }
    return false
  }

  /// Values that other rows hardly have, for columns of different types.
  private static func otherValues(_ number: Int) -> [String?] {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    return [
      nil, "\(Int64.min + Int64(number))", "\(Int32.min + Int32(truncatingIfNeeded: number))",
      "\(number - 32_768)", "ffffffff-ffff-4fff-8fff-\(padded)", "\(4_000 + number)-01-01",
    ]
  }

  mutating func savepoint<Result>(
    _ body: (inout PostgresExchange) throws -> Result
  ) throws -> Result {
    _ = try session.connection.rows(Self.point.begin)
    let prepared = prepared
    do {
      let result = try body(&self)
      _ = try session.connection.rows(Self.point.release)
      return result
    } catch {
      self.prepared = prepared
      // Otherwise the error of the connection, or of the whole request, ends the transaction.
      if !(error is PostgresError), !(error is PostgresRecordSession.OutdatedSchema) {
        _ = try session.connection.rows([(Self.point.rollBack, []), (Self.point.release, [])])
      }
      throw error
    }
  }
}

extension PostgresSave {
  /// The same save without a condition.
  fileprivate var withoutTag: PostgresSave {
    PostgresSave(
      record: record, policy: policy, table: table, key: key, isInsertion: isInsertion,
      columns: columns, values: values, tag: nil, existing: existing)
  }
}

extension PostgresRecordSession {
  /// Executes the statements of a change, and checks foreign keys. A refused change has no effect.
  ///
  /// - Returns: The rows of the statements; the refusal, if there is one.
  /// - Throws: A ``PostgresError`` that concerns the whole request; ``OutdatedSchema``.
  fileprivate func changing(
    _ statements: [Statement]
  ) throws -> (rows: [PostgresRows], refusal: PostgresError?) {
    let (rows, refusal) = try connection.rowsUntilRefusal(
      [(PostgresSavepoint.change.begin, [])] + statements + [
        (Self.checkForeignKeys, []), (Self.deferForeignKeys, []),
        (PostgresSavepoint.change.release, []),
      ])
    if let refusal {
      try rethrowUnlessOfChange(refusal)
      _ = try connection.rows([
        (PostgresSavepoint.change.rollBack, []), (PostgresSavepoint.change.release, []),
      ])
    }
    return (Array(rows.dropFirst().prefix(statements.count)), refusal)
  }

  private static let uniqueColumns = PostgresStatement(
    "read columns of a constraint",
    """
    SELECT a.attname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
    CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place) \
    LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number \
    WHERE i.indrelid = $1::text::regclass AND c.relname = $2::text::name \
    AND NOT i.indisprimary AND k.place <= i.indnkeyatts
    """)

  /// Returns the record that has a unique value which a save needs.
  ///
  /// - Returns: Nil if the refusal is of another kind, or if the record is not found, such as for an index
  ///   on an expression.
  func holder(of save: PostgresSave, refusedBy refusal: PostgresError) throws -> UniqueHolder? {
    guard refusal.isUniqueViolation, let constraint = refusal.constraint else { return nil }
    let table = save.table
    let rows = try connection.rows(Self.uniqueColumns, [.text(table.quoted), .text(constraint)])
    let columns = (0..<rows.count).compactMap { rows.text($0, 0).flatMap(table.column(named:)) }
    guard !columns.isEmpty, columns.count == rows.count else { return nil }
    var parameters: [PostgresValue] = save.key.map { .text($0) }
    let isOwn = table.key.columns.enumerated().map { "t.\($1.quoted) = $\($0 + 1)::\($1.castType)" }
      .joined(separator: " AND ")
    var conditions = ["NOT (\(isOwn))"]
    for column in columns {
      if let index = save.columns.firstIndex(where: { $0 === column }) {
        parameters.append(save.values[index].map { PostgresValue.text($0) } ?? .null)
        conditions.append("t.\(column.quoted) = $\(parameters.count)::\(column.castType)")
      } else if save.isInsertion {
        // The default of a new row is not known here.
        return nil
      } else {
        conditions.append(
          "t.\(column.quoted) = (SELECT t.\(column.quoted) FROM \(table.quoted) AS t WHERE \(isOwn))"
        )
      }
    }
    let found = try connection.rows(
      PostgresStatement(
        "find a unique value in \(table.name)",
        """
        SELECT \(table.key.name(of: "t")) FROM \(table.quoted) AS t \
        WHERE \(conditions.joined(separator: " AND "))
        """), parameters)
    guard found.count > 0, let name = found.text(0, 0) else { return nil }
    return UniqueHolder(
      id: RecordID(table.name, table.key.decoded(name)), columns: columns.map(\.name))
  }
}
