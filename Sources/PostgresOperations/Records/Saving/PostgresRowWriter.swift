internal import RecordOperations

/// Inserts rows into a table on one connection.
///
/// Rows with the same columns are one statement, and all statements of an insertion are sent
/// together. Only if one of them is refused, they are repeated with a savepoint for each row.
final class PostgresRowWriter: ServedRowWriter {
  private typealias TypeName = PostgresRecordSchema.TypeName

  /// The maximum number of rows that are sent together with a savepoint for each.
  private static let chunkSize = 100

  private let type: String
  private let session: PostgresRecordSession
  private let interruption: PostgresInterruption
  /// The table and its constraints, as they were last read; nil if it was not found.
  private var current: (table: PostgresTable, constraints: PostgresConstraints)?
  /// Whether the open transaction keeps the definition of the table unchanged.
  private var isLocked = false
  /// Whether the open transaction has the savepoint ``PostgresSavepoint/batch``.
  private var hasSavepoint = false

  init(
    _ type: String, _ session: PostgresRecordSession, _ interruption: PostgresInterruption
  ) {
    (self.type, self.session, self.interruption) = (type, session, interruption)
  }

  func check() throws { try interruption.check() }

  func transaction<Response>(_ body: () throws -> Response) throws -> Response {
    defer {
      (isLocked, hasSavepoint) = (false, false)
      interruption.resume(session.connection)
    }
    do {
      return try session.connection.transaction {
        let response = try body()
        // A commit is not interrupted: otherwise it would not be known whether it was made.
        interruption.end()
        try check()
        return response
      }
    } catch let error as PostgresError {
      throw error.translated(isAfterCommit: true)
    }
  }

  /// Runs a body, and translates its errors.
  private func request<Response>(_ body: () throws -> Response) throws -> Response {
    do { return try body() } catch let error as PostgresError {
      // The cancellation has ended the connection.
      try check()
      throw error.translated(isAfterCommit: false)
    }
  }

  /// Returns the statements that begin a savepoint. They release the one before, which saves a wait
  /// for the server.
  private func savepoint() -> [PostgresRecordSession.Statement] {
    defer { hasSavepoint = true }
    let begin: PostgresRecordSession.Statement = (PostgresSavepoint.batch.begin, [])
    return hasSavepoint ? [(PostgresSavepoint.batch.release, []), begin] : [begin]
  }

  // MARK: The table

  func table() throws -> ServedDefinition? {
    try request { try lockedTable()?.table.definition }
  }

  func missingTable() throws -> RecordError { try request { try session.missing(type) } }

  private func lockedTable() throws -> (table: PostgresTable, constraints: PostgresConstraints)? {
    if isLocked { return current }
    try PostgresRecordSchema.check(type: type)
    guard let found = try current?.table ?? load(), found.isPlain else {
      return try load().map { ($0, PostgresConstraints()) }
    }
    var statements: [PostgresRecordSession.Statement] = [
      (
        PostgresStatement(
          "lock \(type)", "LOCK TABLE \(found.quoted) IN ROW EXCLUSIVE MODE", isReused: false), []
      ), session.versions([TypeName(type)]),
    ]
    if let current { statements += current.constraints.immediate(in: session.schema) }
    let versions = try session.connection.rows(statements)[1]
    if current == nil || versions.text(0, 1) != found.version {
      current = nil
      guard let table = try load() else { return nil }
      try read(table)
    }
    isLocked = true
    return current
  }

  private func load() throws -> PostgresTable? {
    try session.load([TypeName(type)])[TypeName(type)] ?? nil
  }

  private func read(_ table: PostgresTable) throws {
    let constraints = PostgresConstraints(
      try session.connection.rows(
        PostgresConstraints.statement, [.text(session.schema.name), .text(type)]),
      isOwn: table.isOwn)
    let immediate = constraints.immediate(in: session.schema)
    if !immediate.isEmpty { _ = try session.connection.rows(immediate) }
    current = (table, constraints)
  }

  func table(
    creating fields: [(key: String, value: FieldValue)]
  ) throws -> ServedDefinition {
    try request {
      let found = try lockedTable()?.table
      let example = DatabaseRecord(
        RecordID(type, "1"), fields: Dictionary(fields) { first, _ in first }, tag: nil)
      try PostgresSavePlan.check(.save(example, .allKeys))
      let new = fields.filter { name, value in
        guard let column = found?.column(named: name) else { return true }
        return column.kind == .null && value != .null
      }
      if let found, new.isEmpty { return found.definition }
      var parts = PostgresMissingParts()
      parts.add(new, of: type)
      _ = try session.connection.rows(savepoint())
      do {
        // The table must have no rows that wait for a check.
        let deferred = current?.constraints
        if let deferred { try set(deferred.ofItself(isDeferred: false, in: session.schema)) }
        try session.beginCreation(of: parts)
        try session.create(parts)
        if let deferred { try set(deferred.ofItself(isDeferred: true, in: session.schema)) }
      } catch {
        (current, isLocked) = (nil, false)
        if let error = error as? PostgresError, error.kind != .refused { throw error }
        _ = try session.connection.rows(PostgresSavepoint.batch.rollBack)
        throw error
      }
      current = nil
      guard let table = try load() else { throw try session.missing(type) }
      try read(table)
      isLocked = true
      return table.definition
    }
  }

  private func set(_ statements: [PostgresRecordSession.Statement]) throws {
    if !statements.isEmpty { _ = try session.connection.rows(statements) }
  }

  // MARK: Rows

  func insert(_ rows: [ServedRow], existing: ExistingRowPolicy) throws -> ServedInsertion {
    try request {
      guard let (table, constraints) = try lockedTable() else { throw try session.missing(type) }
      var result = ServedInsertion()
      let runs = try runs(of: rows, in: table, constraints, existing, &result)
      if try insertTogether(runs, existing, &result) { return result }
      let single = runs.flatMap(\.singleRuns)
      try insertEach(single, existing, constraints, &result)
      return result
    }
  }

  /// Groups consecutive rows that one statement can insert. Adds the rows whose values their columns
  /// do not take to the rejections.
  private func runs(
    of rows: [ServedRow], in table: PostgresTable, _ constraints: PostgresConstraints,
    _ existing: ExistingRowPolicy, _ result: inout ServedInsertion
  ) throws -> [PostgresInsertionRun] {
    var runs: [PostgresInsertionRun] = []
    var names: [String]?
    var columns: [PostgresColumn] = []
    // One statement cannot update a row twice.
    var keys: Set<[String?]> = []
    var keyIndices: [Int] = []
    var beginsRun = true
    for (index, row) in rows.enumerated() {
      if row.columns != names {
        names = row.columns
        columns = try row.columns.map { try table.queriedColumn($0) }
        keyIndices = columns.indices.filter { index in
          table.key.columns.contains { $0 === columns[index] }
        }
        beginsRun = true
      }
      let values: [String?]
      do {
        values = try zip(columns, row.values).map { try $0.stored($1, of: type) }
      } catch let error as RecordError {
        result.rejections.append((index, .invalid("\(error)")))
        continue
      }
      if existing == .updated, !beginsRun {
        beginsRun = keys.contains(keyIndices.map { values[$0] })
      }
      if beginsRun {
        runs.append(PostgresInsertionRun(table, columns))
        keys = []
      }
      runs[runs.count - 1].append(values, at: index)
      if existing == .updated { keys.insert(keyIndices.map { values[$0] }) }
      beginsRun = constraints.isRowByRow
    }
    return runs
  }

  /// - Returns: False if one of the statements is refused, or has not inserted all rows. Nothing was
  ///   inserted then.
  private func insertTogether(
    _ runs: [PostgresInsertionRun], _ existing: ExistingRowPolicy, _ result: inout ServedInsertion
  ) throws -> Bool {
    if runs.isEmpty { return true }
    let begin = savepoint()
    let (rows, refusal) = try session.connection.rowsUntilRefusal(
      begin + runs.map { $0.statement(existing) })
    let counts = rows.dropFirst(begin.count).map(\.affectedCount)
    if let refusal {
      try rethrowUnlessOfRow(refusal)
    } else if existing != .refused || zip(runs, counts).allSatisfy({ $0.rows.count == $1 }) {
      result.count += counts.reduce(0, +)
      return true
    }
    _ = try session.connection.rows(PostgresSavepoint.batch.rollBack)
    return false
  }

  /// Inserts rows with a savepoint for each.
  private func insertEach(
    _ runs: [PostgresInsertionRun], _ existing: ExistingRowPolicy,
    _ constraints: PostgresConstraints, _ result: inout ServedInsertion
  ) throws {
    var rest = runs[...]
    while !rest.isEmpty {
      try check()
      let chunk = rest.prefix(Self.chunkSize)
      let (rows, refusal) = try session.connection.rowsUntilRefusal(
        chunk.flatMap { run in
          [
            (PostgresSavepoint.change.begin, []), run.statement(existing),
            (PostgresSavepoint.change.release, []),
          ]
        })
      for (index, run) in chunk.enumerated() {
        guard index * 3 + 2 < rows.count else { break }
        rest.removeFirst()
        let count = rows[index * 3 + 1].affectedCount
        result.count += count
        if count == 0, existing == .refused {
          result.rejections.append((run.rows[0], .discarded))
        }
      }
      guard let refusal else { continue }
      try rethrowUnlessOfRow(refusal)
      guard let run = rest.popFirst() else { throw refusal }
      let reason = refusal.translated(isAfterCommit: false).description
      let isExisting =
        existing == .refused && refusal.isUniqueViolation
        && refusal.constraint == constraints.primaryKey
      result.rejections.append(
        (run.rows[0], isExisting ? .existing(reason) : .invalid(reason)))
      _ = try session.connection.rows([
        (PostgresSavepoint.change.rollBack, []), (PostgresSavepoint.change.release, []),
      ])
    }
  }

  private func rethrowUnlessOfRow(_ error: PostgresError) throws {
    // A missing part of the schema is one of a trigger, and not of a row.
    if !error.isOfChange || error.isSchemaMismatch { throw error }
  }

  // MARK: Constraints

  func checkDeferredConstraints() throws {
    // Nothing was inserted without a table.
    if !isLocked { return }
    try request {
      _ = try session.connection.rows(
        PostgresStatement("at the end of the transaction", "SET CONSTRAINTS ALL IMMEDIATE"))
    }
  }
}
