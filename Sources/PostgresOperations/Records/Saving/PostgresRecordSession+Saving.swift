internal import RecordOperations

extension PostgresRecordSession {
  static let checkForeignKeys = PostgresStatement(
    "check foreign keys", "SET CONSTRAINTS ALL IMMEDIATE")

  /// Saves and deletes records. Must be called in a transaction.
  ///
  /// All changes are sent together. Only if one of them is refused, they are repeated with a
  /// savepoint for each.
  ///
  /// - Parameter parts: The tables and columns that are missing. They are created before any row is
  ///   locked, so that two requests that create some do not deadlock.
  /// - Throws: ``PostgresMissingParts`` if others are missing; a ``PostgresError`` or ``RecordError``
  ///   that concerns the whole request; ``OutdatedSchema``.
  func apply(
    _ batch: RecordBatch, creating parts: PostgresMissingParts?
  ) throws -> [RecordReply] {
    if let parts { try beginCreation(of: parts) }
    var plan = try lockedPlan(of: batch.changes)
    var steps = batch.changes.map { plan.step($0) }
    if !plan.missing.isEmpty {
      guard parts != nil else { throw plan.missing }
      let isRefused = batch.isAtomic && batch.replies(ofFirstFailure: steps) != nil
      try create(isRefused ? plan.missing.untrackedOnly : plan.missing)
      plan = try lockedPlan(of: batch.changes)
      steps = batch.changes.map { plan.step($0) }
    }
    if batch.isAtomic, let replies = batch.replies(ofFirstFailure: steps) { return replies }
    if let replies = try applyTogether(steps, of: batch) { return replies }
    return try applyEach(batch)
  }

  /// Locks the stored records of changes, and reads them. A role may do neither in some tables, where only new records
  /// can be saved.
  func lockedPlan(of changes: [RecordChange]) throws -> PostgresSavePlan {
    let possible = changes.filter { (try? PostgresSavePlan.check($0)) != nil }
    var groups: [(reader: PostgresRowReader, ids: [RecordID], statement: Int)] = []
    let (tables, rows) = try rows(of: possible.map(\.id.type)) { tables in
      groups = []
      var statements: [Statement] = []
      for (type, changes) in Dictionary(grouping: possible, by: { TypeName($0.id.type) }) {
        guard let table = tables[type] ?? nil, table.isPlain, !table.key.isNone, table.isReadable
        else { continue }
        let named = changes.compactMap { change in
          table.key.values(of: change.id.name).map { (change.id, $0) }
        }
        if named.isEmpty { continue }
        let reader = PostgresRowReader(table, table.fields)
        let isDeleting = changes.contains { if case .delete = $0 { true } else { false } }
        // Sorted, so that concurrent requests do not deadlock.
        let sorted = named.map(\.1).sorted { $0.lexicographicallyPrecedes($1) }
        if table.isLockable {
          statements.append(lock(sorted, of: table, forDeletion: isDeleting))
        }
        // A separate statement sees what the transactions before the lock have committed.
        groups.append((reader, named.map(\.0), statements.count))
        statements.append(selection(of: named.map(\.1), by: reader))
      }
      return statements
    }
    var existing: [RecordID: DatabaseRecord] = [:]
    for (reader, ids, statement) in groups {
      let rows = rows[statement]
      for row in 0..<rows.count {
        let id = ids[Int(rows.integer(row, 0) ?? 1) - 1]
        existing[id] = reader.record(id.name, rows, row, from: 1)
      }
    }
    return PostgresSavePlan(tables, existing)
  }

  private func lock(
    _ keys: [[String]], of table: PostgresTable, forDeletion isDeleting: Bool
  ) -> Statement {
    let sql = """
      SELECT FROM \(Self.keys(of: table)) JOIN \(table.quoted) AS t ON \(Self.isKey(of: table)) \
      ORDER BY v.i FOR \(isDeleting ? "UPDATE" : "NO KEY UPDATE") OF t
      """
    return (PostgresStatement("lock \(table.name)", sql), Self.arrays(keys, of: table))
  }

  /// Applies all steps.
  ///
  /// - Returns: Nil if one of them is refused, or finds no row. Nothing was changed then.
  private func applyTogether(_ steps: [PostgresStep], of batch: RecordBatch) throws
    -> [RecordReply]?
  {
    let runs = PostgresRun.runs(of: steps)
    var statements: [Statement] = [(PostgresSavepoint.batch.begin, [])]
    for run in runs { statements += run.statements(in: schema) }
    statements.append((Self.checkForeignKeys, []))
    let (rows, refusal) = try connection.rowsUntilRefusal(statements)
    // The steps without a statement have failed.
    var replies = steps.map { step -> RecordReply in
      if case .failed(let error) = step { .failed(error) } else { .deleted }
    }
    var isComplete = refusal == nil
    if isComplete {
      for (index, run) in runs.enumerated() {
        let results = run.replies(rows[1 + index * 2], rows[2 + index * 2])
        guard let results else {
          isComplete = false
          break
        }
        for (place, reply) in zip(run.indices, results) { replies[place] = reply }
      }
    }
    if isComplete { return replies }
    if let refusal { try rethrowUnlessOfChange(refusal) }
    _ = try connection.rows(PostgresSavepoint.batch.rollBack)
    return nil
  }

  func rethrowUnlessOfChange(_ error: PostgresError) throws {
    if error.isSchemaMismatch { throw OutdatedSchema(cause: error) }
    if !error.isOfChange { throw error }
  }
}

extension RecordBatch {
  /// Returns the replies to an atomic batch if one of its steps fails; otherwise nil.
  fileprivate func replies(ofFirstFailure steps: [PostgresStep]) -> [RecordReply]? {
    for (index, step) in steps.enumerated() {
      if case .failed(let error) = step { return replies(failing: index, with: error) }
    }
    return nil
  }
}
