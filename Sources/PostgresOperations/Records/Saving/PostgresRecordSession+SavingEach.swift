internal import RecordOperations

/// The savepoints of a transaction that saves records.
struct PostgresSavepoint {
  static let batch = PostgresSavepoint("record_batch")
  static let chunk = PostgresSavepoint("record_chunk")
  static let change = PostgresSavepoint("record_change")

  let begin: PostgresStatement
  let release: PostgresStatement
  let rollBack: PostgresStatement

  init(_ name: String) {
    begin = PostgresStatement("savepoint", "SAVEPOINT \(name)")
    release = PostgresStatement("release", "RELEASE SAVEPOINT \(name)")
    rollBack = PostgresStatement("roll back", "ROLLBACK TO SAVEPOINT \(name)")
  }
}

/// Saves with a savepoint for each change, which are still sent together: a batch with *n* refused
/// changes needs about 4 *n* waits for the server.
extension PostgresRecordSession {
  static let deferForeignKeys = PostgresStatement(
    "defer foreign keys", "SET CONSTRAINTS ALL DEFERRED")

  /// The maximum number of changes that are sent together.
  private static let chunkSize = 100

  /// Applies each change in a savepoint of its own. Saves that take unique values from one another are applied
  /// together.
  func applyEach(_ batch: RecordBatch) throws -> [RecordReply] {
    _ = try connection.rows(PostgresSavepoint.batch.begin)
    var replies: [RecordReply] = []
    var size = Self.chunkSize
    var repeated: Int?
    var exchanged: [RecordID: Result<RecordReply, RecordError>] = [:]
    while replies.count < batch.changes.count {
      let start = replies.count
      if let result = exchanged.removeValue(forKey: batch.changes[start].id) {
        replies.append(result.reply)
      } else {
        let rest = batch.changes[start...].prefix(size).prefix { exchanged[$0.id] == nil }
        // A deletion may change the records of later changes, which are then read again.
        let deletion = rest.firstIndex { if case .delete = $0 { true } else { false } }
        let chunk = try apply(Array(deletion.map { rest[...$0] } ?? rest))
        replies += chunk.replies
        if let holder = chunk.holder, let refused = replies.popLast() {
          let open = batch.changes[replies.count...].saves.filter { exchanged[$0.key] == nil }
          let id = batch.changes[replies.count].id
          if open[holder.id] != nil {
            var exchange = PostgresExchange(self, open)
            exchanged.merge(try exchange.settle(id)) { $1 }
          } else {
            replies.append(refused)
          }
        }
        if chunk.isOutdated {
          if repeated == replies.count {
            let id = batch.changes[replies.count].id
            let reason = "a trigger of \(id.type), or another transaction, prevented the change"
            replies.append(.failed(RecordError(.invalid(reason), of: id)))
          } else {
            repeated = replies.count
          }
          size = 1
        }
      }
      if batch.isAtomic, let failure = replies.firstFailure {
        _ = try connection.rows(PostgresSavepoint.batch.rollBack)
        return batch.replies(failing: failure.index, with: failure.error)
      }
    }
    return replies
  }

  /// The replies to some changes.
  private struct Chunk {
    /// The last one may be a refusal.
    var replies: [RecordReply]
    /// Whether the change after them must be repeated, because its record has changed.
    var isOutdated = false
    /// The record that has the unique value which the refused change needs.
    var holder: UniqueHolder?
  }

  /// Applies changes, up to the first one that is refused.
  ///
  /// - Returns: The replies up to a refusal.
  private func apply(_ changes: [RecordChange]) throws -> Chunk {
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
        return try chunk(replies, endingWith: refusal, of: run, change, step, plan)
      }
      guard let reply = run.replies(rows[place + 1], rows[place + 2])?.first else {
        // An earlier change, or a trigger, has removed the row.
        _ = try connection.rows(PostgresSavepoint.chunk.rollBack)
        return Chunk(replies: [], isOutdated: true)
      }
      replies.append(reply)
      place += size
    }
    return Chunk(replies: replies)
  }

  /// Rolls back a refused change, and returns the replies to it and to those before. If another transaction has
  /// inserted the record, the change must be repeated.
  private func chunk(
    _ replies: [RecordReply], endingWith refusal: PostgresError, of run: PostgresRun,
    _ change: RecordChange, _ step: PostgresStep, _ plan: PostgresSavePlan
  ) throws -> Chunk {
    try rethrowUnlessOfChange(refusal)
    _ = try connection.rows(PostgresSavepoint.change.rollBack)
    if refusal.isUniqueViolation, run.isInsertion,
      try !lockedPlan(of: [change]).existing.isEmpty
    {
      return Chunk(replies: replies, isOutdated: true)
    }
    var chunk = Chunk(replies: replies + [.failed(try failure(refusal, of: change, plan))])
    if case .save(let save) = step { chunk.holder = try holder(of: save, refusedBy: refusal) }
    return chunk
  }
}

extension Result<RecordReply, RecordError> {
  fileprivate var reply: RecordReply {
    switch self {
    case .success(let reply): reply
    case .failure(let error): .failed(error)
    }
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
}
