internal import CompositeOperations

/// The requests that are needed for a list of changes.
struct ModifyRequests {
  private let database: any RecordDatabase
  /// The changes, at most one for each record.
  private let changes: [RecordChange]
  private let isAtomic: Bool
  private let ignoresMissing: Bool
  private let retries: RequestRetries
  /// The result of each change; `nil` if no request was made for it.
  private var replies: [RecordReply?]
  /// Whether it is not known if an atomic batch without a reply was carried out.
  private var mayBeDone = false

  init(
    of changes: [RecordChange], atomically isAtomic: Bool, in database: any RecordDatabase,
    ignoringMissing ignoresMissing: Bool = false, retries: RequestRetries
  ) {
    self.changes = changes
    self.isAtomic = isAtomic
    self.database = database
    self.ignoresMissing = ignoresMissing
    self.retries = retries
    replies = Array(repeating: nil, count: changes.count)
  }

  /// Makes the requests.
  ///
  /// - Returns: The result of each change: saved or deleted.
  /// - Throws: A ``RecordBatchError`` if a change failed or the task was cancelled; a
  ///   ``RecordError`` if an atomic batch is not supported or exceeds the limits.
  nonisolated(nonsending) mutating func perform(
    in context: OperationContext
  ) async throws -> [RecordReply] {
    if isAtomic { try database.capabilities.require(.atomicBatches) }
    var open = try Array(chunks().reversed())
    context.expectChildren(open.count)
    do {
      while let chunk = open.popLast() {
        try Task.checkCancellation()
        switch try await send(chunk, in: context) {
        case .done: break
        case .tooMuch(let left):
          let middle = left.count / 2
          open += [Array(left[middle...]), Array(left[..<middle])]
        case .hopeless: open = []
        }
      }
    } catch is CancellationError { throw batchError(cancelled: true) }
    let done = replies.compactMap(\.self).filter { $0.error == nil }
    guard done.count == changes.count else { throw batchError(cancelled: false) }
    return done
  }

  /// Splits the changes by the declared limits of the database.
  private func chunks() throws(RecordError) -> [[Int]] {
    let limits = database.limits
    var chunks: [[Int]] = []
    var chunk: [Int] = []
    var bytes = 0
    for (index, change) in changes.enumerated() {
      let size = change.byteCount
      if !chunk.isEmpty, chunk.count == limits.items || bytes + size > limits.bytes {
        chunks.append(chunk)
        (chunk, bytes) = ([], 0)
      }
      chunk.append(index)
      bytes += size
    }
    if !chunk.isEmpty { chunks.append(chunk) }
    if isAtomic, chunks.count > 1 { throw RecordError(.limitExceeded) }
    return chunks
  }

  private enum End {
    /// The result of each change is known.
    case done
    /// The remaining changes have to be split.
    case tooMuch(left: [Int])
    /// Further requests would fail, too.
    case hopeless
  }

  /// Sends changes until their results are known or no attempts are left.
  private nonisolated(nonsending) mutating func send(
    _ chunk: [Int], in context: OperationContext
  ) async throws -> End {
    var attempt = Attempt(left: chunk, waits: RequestRetries.Waits(retries))
    var randomness = context.randomness
    while true {
      let advised: Duration?
      do {
        if attempt.isUnclear { try await settleDone(&attempt, in: context) }
        if attempt.left.isEmpty { return .done }
        advised = try await sendOnce(&attempt, in: context)
        if attempt.left.isEmpty { return .done }
      } catch let error as CancellationError {
        // During the delay before an attempt, the results of the previous one are known.
        if attempt.request.isOnItsWay.withLock(\.self) {
          fail(attempt.left, with: RecordError(.replyLost))
        }
        throw error
      } catch {
        var problem = error as? RecordError ?? RecordError(.other(error))
        // The lookup failed, for any reason.
        if attempt.isUnclear { problem = RecordError(.replyLost, retryAfter: problem.retryDelay) }
        if case .limitExceeded = problem.reason, attempt.left.count > 1, !isAtomic {
          return .tooMuch(left: attempt.left)
        }
        fail(attempt.left, with: problem)
        if case .limitExceeded = problem.reason { return .done }
        guard problem.isRetriable else { return .hopeless }
        if case .replyLost = problem.reason {
          attempt.isUnclear = true
          attempt.hasLostAnswer = true
        }
        advised = problem.retryDelay
        guard let wait = attempt.waits.next(advised: advised, using: &randomness) else {
          return .hopeless
        }
        attempt.delay = wait
        continue
      }
      guard let wait = attempt.waits.next(advised: advised, using: &randomness) else {
        return .done
      }
      attempt.delay = wait
    }
  }

  private struct Attempt {
    /// The changes that are not known to be done or to have finally failed.
    var left: [Int]
    var waits: RequestRetries.Waits
    /// The delay before the attempt.
    var delay = Duration.zero
    /// Whether changes may have been made without a reply, and no lookup has been made since.
    var isUnclear = false
    /// Whether a reply was lost in any attempt.
    var hasLostAnswer = false
    let request = Request()
  }

  /// The last request that was made or is being delayed.
  private final class Request: Sendable {
    /// Whether the request was sent and has no reply yet.
    let isOnItsWay = Lock(false)
  }

  /// Sends the remaining changes once, and removes those that are settled.
  ///
  /// - Returns: The minimum delay before the next attempt; `nil` if the database does not say.
  private nonisolated(nonsending) mutating func sendOnce(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws -> Duration? {
    let batch = RecordBatch(attempt.left.map { changes[$0] }, isAtomic: isAtomic)
    let database = database
    let name = "modify \(RecordBatch.size(batch.changes.count))"
    let request = attempt.request
    request.isOnItsWay.withLock { $0 = false }
    let answers = try await context.request(name, after: attempt.delay) {
      request.isOnItsWay.withLock { $0 = true }
      return try await database.modify(batch)
    }
    request.isOnItsWay.withLock { $0 = false }
    guard answers.count == batch.changes.count else {
      throw RecordError(
        .invalid("the database returned \(answers.count) replies to \(batch.changes.count) changes")
      )
    }
    var again: [Int] = []
    var advised: Duration?
    for (index, answer) in zip(attempt.left, answers) {
      // An atomic batch was made as a whole or not at all, and a lookup has shown which.
      let hasLostAnswer = attempt.hasLostAnswer && !isAtomic
      let reply = settled(answer, for: changes[index], hasLostAnswer: hasLostAnswer)
      replies[index] = reply
      // The reply as received: a change that was settled as `.replyLost` is not sent again.
      if case .failed(let error) = answer, error.isRetriable {
        again.append(index)
        advised = [advised, error.retryDelay].compactMap(\.self).max()
      }
    }
    if isAtomic, attempt.left.contains(where: { replies[$0]?.error != nil }) {
      // Leave out deletions of missing records that count as done, and send the others again.
      if attempt.left.contains(where: { replies[$0]?.error == nil }) {
        attempt.delay = .zero
        try await leaveOutMissing(&attempt, in: context)
        return attempt.left.isEmpty ? nil : try await sendOnce(&attempt, in: context)
      }
      if !again.isEmpty { return advised }
    }
    attempt.left = again
    return advised
  }

  /// Settles deletions of records that do not exist and need not.
  private nonisolated(nonsending) mutating func leaveOutMissing(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws {
    let database = database
    let deletions = attempt.left.filter { if case .delete = changes[$0] { true } else { false } }
    let ids = deletions.map { changes[$0].id }
    let found = try await context.request(
      "check which of \(RecordBatch.size(ids.count)) exist", after: .zero
    ) { try await database.lookup(ids, keys: []) }
    for index in deletions where found[changes[index].id] == nil { replies[index] = .deleted }
    let missing = Set(deletions.filter { replies[$0]?.error == nil })
    attempt.left.removeAll(where: missing.contains)
  }

  /// Returns the result of a change, given its reply.
  private func settled(
    _ answer: RecordReply, for change: RecordChange, hasLostAnswer: Bool
  ) -> RecordReply {
    guard case .failed(var error) = answer else { return answer }
    error.record = change.id
    switch error.reason {
    case .unknownRecord:
      if case .delete = change, ignoresMissing || hasLostAnswer { return .deleted }
      if change.isUnclear(where: nil), hasLostAnswer {
        error = RecordError(.replyLost, of: change.id)
      }
    // The lost request may have been carried out after the lookup.
    case .conflict(let record) where hasLostAnswer:
      if change.isDone(in: record) { return .saved(record) }
      if change.isUnclear(where: record) { error = RecordError(.replyLost, of: change.id) }
    default: break
    }
    return .failed(error)
  }

  /// Settles the remaining changes that were made without a reply.
  private nonisolated(nonsending) mutating func settleDone(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws {
    let ids = attempt.left.map { changes[$0].id }
    let database = database
    let found = try await context.request(
      "check which of \(RecordBatch.size(ids.count)) were changed", after: attempt.delay
    ) { try await database.lookup(ids, keys: nil) }
    attempt.delay = .zero
    attempt.isUnclear = false
    var left: [Int] = []
    var done: [(Int, RecordReply)] = []
    for index in attempt.left {
      let change = changes[index]
      switch (change, found[change.id]) {
      case (.delete, nil): done.append((index, .deleted))
      case (.save, let record?) where change.isDone(in: record):
        done.append((index, .saved(record)))
      case (.save, let record), (.delete, let record):
        if !isAtomic, change.isUnclear(where: record) {
          done.append((index, .failed(RecordError(.replyLost, of: change.id))))
        } else {
          left.append(index)
        }
      }
    }
    if isAtomic, !left.isEmpty {
      // If not all changes were made, none was; or another writer has changed a record since.
      if !left.contains(where: { changes[$0].isSurelyOpen(where: found[changes[$0].id]) }) {
        mayBeDone = true
      }
      return
    }
    for (index, reply) in done { replies[index] = reply }
    attempt.left = left
  }

  private mutating func fail(_ indices: [Int], with error: RecordError) {
    for index in indices {
      var error = error
      error.record = changes[index].id
      replies[index] = .failed(error)
    }
  }

  private mutating func batchError(cancelled isCancelled: Bool) -> RecordBatchError {
    if isAtomic {
      // Also deletions of missing records, which were settled as done.
      let done = changes.indices.filter { index in replies[index].map { $0.error == nil } ?? false }
      fail(done, with: RecordError(.batchFailed))
      if mayBeDone { fail(Array(changes.indices), with: RecordError(.replyLost)) }
    }
    var saved: [DatabaseRecord] = []
    var deleted: [RecordID] = []
    var failures: [RecordError] = []
    var unsent: [RecordID] = []
    for (change, reply) in zip(changes, replies) {
      switch reply {
      case .saved(let record): saved.append(record)
      case .deleted: deleted.append(change.id)
      case .failed(let error): failures.append(error)
      case nil: unsent.append(change.id)
      }
    }
    return RecordBatchError(
      saved: saved, deleted: deleted, failures: failures, unsent: unsent,
      representsCancellation: isCancelled)
  }
}

extension RecordReply {
  fileprivate var error: RecordError? {
    if case .failed(let error) = self { error } else { nil }
  }
}

extension RecordChange {
  /// Whether a record proves that the change was not made.
  fileprivate func isSurelyOpen(where record: DatabaseRecord?) -> Bool {
    switch self {
    case .delete(_, let tag): record != nil && (tag == nil || tag == record?.tag)
    case .save(let sent, _): sent.tag == record?.tag
    }
  }

  /// Whether a record, which does not have the state after the change, does not show if the change
  /// was made before another writer changed the record. Unconditional changes are never unclear:
  /// they are just made again.
  fileprivate func isUnclear(where record: DatabaseRecord?) -> Bool {
    switch self {
    case .delete(_, nil), .save(_, .changedKeys), .save(_, .allKeys), .save(_, .replace): false
    case .delete, .save(_, .ifUnchanged): !isSurelyOpen(where: record)
    }
  }

  /// Whether a record has the state that it has after the change.
  fileprivate func isDone(in record: DatabaseRecord) -> Bool {
    guard case .save(let sent, let policy) = self else { return false }
    // After the change it would have another tag.
    if let tag = sent.tag, tag == record.tag { return false }
    let fields = sent.fields(by: policy)
    if policy == .replace,
      record.fields.contains(where: { fields[$0.key] == nil && $0.value != .null })
    {
      return false
    }
    return fields.allSatisfy { key, value in
      value == .null ? record[key] == .null : record[key].isEquivalent(to: value)
    }
  }
}
