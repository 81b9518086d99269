internal import CompositeOperations

// After a lost reply, it is not known which changes were applied. A lookup shows it, unless another
// writer has changed a record since.
extension ModifyRequests {
  /// Settles the remaining changes that were applied without a reply.
  nonisolated(nonsending) mutating func settleApplied(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws {
    let ids = attempt.remaining.map { changes[$0].id }
    let database = database
    let found = try await context.request(
      "check which of \(RecordBatch.size(ids.count)) were changed", after: attempt.delay
    ) { try await database.lookup(ids, keys: nil) }
    attempt.delay = .zero
    attempt.needsLookup = false
    var remaining: [Int] = []
    var settled: [(Int, RecordReply)] = []
    for index in attempt.remaining {
      let change = changes[index]
      switch (change, found[change.id]) {
      case (.delete, nil): settled.append((index, .deleted))
      case (.save, let record?) where change.isApplied(in: record):
        settled.append((index, .saved(record)))
      case (.save, let record), (.delete, let record):
        if !isAtomic, change.isUnclear(where: record) {
          settled.append((index, .failed(RecordError(.replyLost, of: change.id))))
        } else {
          remaining.append(index)
        }
      }
    }
    if isAtomic, !remaining.isEmpty {
      // If not all changes were applied, none was; or another writer has changed a record since.
      if !remaining.contains(where: { changes[$0].isUnapplied(where: found[changes[$0].id]) }) {
        results.mayBeApplied = true
      }
      return
    }
    for (index, reply) in settled { results[index] = reply }
    attempt.remaining = remaining
  }

  /// Settles deletions of records that do not exist and need not.
  nonisolated(nonsending) mutating func leaveOutMissing(
    _ attempt: inout Attempt, in context: OperationContext
  ) async throws {
    let database = database
    let deletions = attempt.remaining.filter {
      if case .delete = changes[$0] { true } else { false }
    }
    let ids = deletions.map { changes[$0].id }
    let found = try await context.request(
      "check which of \(RecordBatch.size(ids.count)) exist", after: .zero
    ) { try await database.lookup(ids, keys: []) }
    for index in deletions where found[changes[index].id] == nil { results[index] = .deleted }
    let missing = Set(deletions.filter { !results.hasFailed($0) })
    attempt.remaining.removeAll(where: missing.contains)
  }

  /// Returns the result of a change, given its reply.
  func settled(
    _ reply: RecordReply, for change: RecordChange, hasLostReply: Bool
  ) -> RecordReply {
    guard case .failed(var error) = reply else { return reply }
    error.record = change.id
    switch error.reason {
    case .unknownRecord:
      if case .delete = change, ignoresMissing || hasLostReply { return .deleted }
      if change.isUnclear(where: nil), hasLostReply {
        error = RecordError(.replyLost, of: change.id)
      }
    // The lost request may have been carried out after the lookup.
    case .conflict(let record) where hasLostReply:
      if change.isApplied(in: record) { return .saved(record) }
      if change.isUnclear(where: record) { error = RecordError(.replyLost, of: change.id) }
    default: break
    }
    return .failed(error)
  }
}

extension RecordChange {
  /// Whether a record proves that the change was not applied.
  fileprivate func isUnapplied(where record: DatabaseRecord?) -> Bool {
    switch self {
    case .delete(_, let tag): record != nil && (tag == nil || tag == record?.tag)
    case .save(let sent, _): sent.tag == record?.tag
    }
  }

  /// Whether a record, which does not have the state after the change, does not show if the change
  /// was applied before another writer changed the record. Unconditional changes are never unclear:
  /// they are just made again.
  fileprivate func isUnclear(where record: DatabaseRecord?) -> Bool {
    switch self {
    case .delete(_, nil), .save(_, .changedKeys), .save(_, .allKeys), .save(_, .replace): false
    case .delete, .save(_, .ifUnchanged): !isUnapplied(where: record)
    }
  }

  /// Whether a record has the state that it has after the change.
  fileprivate func isApplied(in record: DatabaseRecord) -> Bool {
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
