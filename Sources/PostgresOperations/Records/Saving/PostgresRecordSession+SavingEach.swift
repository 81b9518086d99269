internal import RecordOperations

/// The savepoints of a transaction that saves records.
struct PostgresSavepoint {
  static let batch = PostgresSavepoint("record_batch")
  static let chunk = PostgresSavepoint("record_chunk")
  static let change = PostgresSavepoint("record_change")

  let begin: PostgresStatement
  let release: PostgresStatement
  let rollBack: PostgresStatement

  private init(_ name: String) {
    begin = PostgresStatement("savepoint", "SAVEPOINT \(name)")
    release = PostgresStatement("release", "RELEASE SAVEPOINT \(name)")
    rollBack = PostgresStatement("roll back", "ROLLBACK TO SAVEPOINT \(name)")
  }
}

/// Saves with a savepoint for each change, which are still sent together: a batch with *n* refused
/// changes needs about 4 *n* waits for the server.
extension PostgresRecordSession {
  private static let deferForeignKeys = PostgresStatement(
    "defer foreign keys", "SET CONSTRAINTS ALL DEFERRED")

  /// The maximum number of changes that are sent together.
  private static let chunkSize = 100

  /// Applies each change in a savepoint of its own.
  func applyEach(_ batch: RecordBatch) throws -> [RecordReply] {
    _ = try connection.rows(PostgresSavepoint.batch.begin)
    var replies: [RecordReply] = []
    var size = Self.chunkSize
    var repeated: Int?
    while replies.count < batch.changes.count {
      let rest = batch.changes[replies.count...].prefix(size)
      // A deletion may change the records of later changes, which are then read again.
      let deletion = rest.firstIndex { if case .delete = $0 { true } else { false } }
      let (new, isOutdated) = try apply(Array(deletion.map { rest[...$0] } ?? rest))
      replies += new
      if isOutdated {
        if repeated == replies.count {
          let id = batch.changes[replies.count].id
          let reason = "a trigger of \(id.type), or another transaction, prevented the change"
          replies.append(.failed(RecordError(.invalid(reason), of: id)))
        } else {
          repeated = replies.count
        }
        size = 1
      }
      if batch.isAtomic, let failure = replies.firstFailure {
        _ = try connection.rows(PostgresSavepoint.batch.rollBack)
        return batch.replies(failing: failure.index, with: failure.error)
      }
    }
    return replies
  }

  /// Applies changes, up to the first one that is refused.
  ///
  /// - Returns: The replies, the last of which may be a refusal, and whether the change after them
  ///   must be repeated, because its record has changed.
  private func apply(
    _ changes: [RecordChange]
  ) throws -> (replies: [RecordReply], isOutdated: Bool) {
    var plan = try lockedPlan(of: changes)
    let steps = changes.map { plan.step($0) }
    let runs = PostgresRun.runs(of: steps, limit: 1)
    var statements: [Statement] = [(PostgresSavepoint.chunk.begin, [])]
    for run in runs {
      statements.append((PostgresSavepoint.change.begin, []))
      statements += run.statements(in: schema)
      statements += [
        (Self.checkForeignKeys, []), (Self.deferForeignKeys, []),
        (PostgresSavepoint.change.release, []),
      ]
    }
    let size = runs.isEmpty ? 0 : (statements.count - 1) / runs.count
    let (rows, refusal) = try connection.rowsUntilRefusal(statements)
    var replies: [RecordReply] = []
    var (next, place) = (runs.makeIterator(), 1)
    for (step, change) in zip(steps, changes) {
      if case .failed(let error) = step {
        replies.append(.failed(error))
        continue
      }
      guard let run = next.next() else { break }
      guard place + size <= rows.count else {
        guard let refusal else { break }
        return try replies.ending(with: self.reply(to: refusal, of: run, change, plan))
      }
      guard let reply = run.replies(rows[place + 1], rows[place + 2])?.first else {
        // An earlier change, or a trigger, has removed the row.
        _ = try connection.rows(PostgresSavepoint.chunk.rollBack)
        return ([], true)
      }
      replies.append(reply)
      place += size
    }
    return (replies, false)
  }

  /// Rolls back a refused change.
  ///
  /// - Returns: The reply; nil if the change must be repeated, because another transaction has
  ///   inserted the record.
  private func reply(
    to refusal: PostgresError, of run: PostgresRun, _ change: RecordChange,
    _ plan: PostgresSavePlan
  ) throws -> RecordReply? {
    try rethrowUnlessOfChange(refusal)
    _ = try connection.rows(PostgresSavepoint.change.rollBack)
    if refusal.isUniqueViolation, run.isInsertion,
      try !lockedPlan(of: [change]).existing.isEmpty
    {
      return nil
    }
    return .failed(try failure(refusal, of: change, plan))
  }
}

extension [RecordReply] {
  /// The first failure and its place.
  fileprivate var firstFailure: (index: Int, error: RecordError)? {
    for (index, reply) in enumerated() {
      if case .failed(let error) = reply { return (index, error) }
    }
    return nil
  }

  fileprivate func ending(
    with reply: RecordReply?
  ) -> (replies: [RecordReply], isOutdated: Bool) {
    (self + [reply].compactMap(\.self), reply == nil)
  }
}
