internal import CompositeOperations
internal import SQLiteSupport

/// Sending local edits.
extension MirrorRound {
  /// The maximum number of edits that are read at a time.
  private static let window = 10_000

  /// Sends the unsent records.
  ///
  /// - Parameter isFinal: Whether a missing reference is final.
  /// - Returns: Whether remote changes have to be fetched, and records sent again.
  nonisolated(nonsending) func push(isFinal: Bool) async throws -> Bool {
    let mirror = mirror
    let items = mirror.remote.limits.items
    // A multiple of the limit, so that only the last request is smaller.
    let size = items >= Self.window ? Self.window : Self.window / items * items
    var position = try await mirror.local.read { connection in
      let tables = MirrorTables(connection: connection, mirror: mirror.name)
      let marked = try tables.pending(.unsent, types: mirror.types)
      return (
        examined: try tables.position()?.examined ?? 0, marked: marked,
        end: try tables.lastSequence()
      )
    }
    var isConflict = false
    var settled: Set<RecordID> = []
    while true {
      let (after, end) = (position.examined, position.end)
      let (marked, skipped) = (position.marked, settled)
      let window = try await mirror.local.read { connection in
        try MirrorOutbox.window(
          of: mirror, on: connection, after: after, upTo: end, marked: marked, skipping: skipped,
          atMost: size)
      }
      (position.examined, position.marked) = (window.last, window.rest)
      if window.edits.isEmpty {
        if window.isLast { return isConflict }
        continue
      }
      settled.formUnion(window.early)
      if try await send(window.edits, isFinal: isFinal) { isConflict = true }
    }
  }

  /// - Returns: Whether remote changes have to be fetched, and records sent again.
  private nonisolated(nonsending) func send(
    _ edits: [MirrorEdit], isFinal: Bool
  ) async throws -> Bool {
    let mirror = mirror
    let edits = try await store { store in try edits.filter { try store.prepare($0) } }
    if edits.isEmpty { return false }
    var requests = ModifyRequests(
      of: edits.map(\.change), atomically: false, in: mirror.remote, ignoringMissing: true,
      retries: mirror.retries)
    do { _ = try await requests.perform(in: context) } catch let error
      where !(error is RecordBatchError)
    {
      throw error
    } catch {}
    if Task.isCancelled { throw CancellationError() }
    // The failure of a request is not a reply to its changes.
    let failure = requests.failure
    let replies = edits.indices.map { index in
      failure?.changes.contains(index) == true ? nil : requests.results[index]
    }
    let remote = try await newIdentity()
    let isConflict = try await store { store in
      if let remote { try store.know(remote) }
      var isConflict = false
      for (edit, reply) in zip(edits, replies) {
        guard let reply else { continue }
        if try store.settle(edit, reply, isFinal: isFinal) { isConflict = true }
      }
      return isConflict
    }
    count { report in
      for reply in replies {
        switch reply {
        case .saved: report.sent += 1
        case .deleted: report.sentDeletions += 1
        case .failed, nil: break
        }
      }
    }
    // Temporary failures end the round. A batch error is about records, which are settled.
    for case .failed(let error)? in replies where error.isRetriable {
      throw RecordError(error.reason, retryAfter: error.retryDelay)
    }
    if let failure {
      var error = failure.error
      if error.record == nil, let only = failure.changes.first, failure.changes.count == 1 {
        error.record = edits[only].id
      }
      throw error
    }
    return isConflict
  }
}

/// A local edit that is to be sent.
struct MirrorEdit: Sendable {
  /// The change to send.
  let change: RecordChange
  /// The tag of the local state.
  let sequence: Int64
  /// The fields that the change writes.
  let fields: [String: FieldValue]
  /// Whether a reference was left out, because the records refer to each other, so that the record
  /// has to be sent again.
  var isPartial = false
  var id: RecordID { change.id }
}

extension MirrorStore {
  /// Notes that an edit is being sent.
  ///
  /// - Returns: False if nothing has to be sent: the record has the fields of the common state.
  mutating func prepare(_ edit: MirrorEdit) throws -> Bool {
    guard case .save(let record, _) = edit.change else { return true }
    var base = try tables.base(of: edit.id) ?? MirrorBase(sequence: MirrorBase.noSequence)
    if record.tag != nil, edit.fields.isEmpty {
      if base.sequence == MirrorBase.deletedHere {
        try merge(DatabaseRecord(edit.id, fields: base.fields, tag: base.tag), base)
        return false
      }
      (base.sequence, base.pending, base.sent) = (edit.sequence, [], nil)
      try tables.save(base, of: edit.id)
      return false
    }
    base.sent = (base.sent ?? [:]).merging(edit.fields) { $1 }
    try tables.save(base, of: edit.id)
    return true
  }

  /// Stores the reply to an edit.
  ///
  /// - Returns: Whether remote changes have to be fetched, and the record sent again.
  mutating func settle(_ edit: MirrorEdit, _ reply: RecordReply, isFinal: Bool) throws -> Bool {
    var base = try tables.base(of: edit.id) ?? MirrorBase()
    switch reply {
    case .saved(let saved):
      base.tag = saved.tag
      base.fields.merge(edit.fields) { $1 }
      base.sent = nil
      base.pending.remove(.whole)
      let remote = saved.completed(by: DatabaseRecord(edit.id, fields: base.fields, tag: saved.tag))
      try acknowledge(remote, base)
      return edit.isPartial
    case .deleted:
      try tables.removeBase(of: edit.id)
      return false
    case .failed(let error):
      switch error.reason {
      case .conflict(let remote):
        try integrate([remote])
        return true
      case .unknownRecord where base.tag != nil:
        base.pending.insert(.missing)
        try tables.save(base, of: edit.id)
        return true
      case .referenceViolated where !isFinal: return true
      case .referenceViolated:
        if case .delete = edit.change {
          // A record of the remote database prevents the deletion, so the deletion loses.
          try undoDeletion(of: edit.id, base)
          return true
        }
        try reject(edit, error, &base)
        return false
      case .unavailable:
        // The database has done nothing.
        if base.sent == edit.fields {
          base.sent = nil
          try tables.save(base, of: edit.id)
        }
        return false
      case .replyLost: return false
      case .unknownRecord, .limitExceeded, .batchFailed, .invalid, .unsupported, .notPermitted,
        .tokenExpired, .otherDatabase, .storage, .other:
        try reject(edit, error, &base)
        return false
      }
    }
  }

  /// Makes the state that the remote database has saved the common one.
  private mutating func acknowledge(_ remote: DatabaseRecord, _ base: MirrorBase) throws {
    guard try local(remote.id) != nil else {
      // It was deleted in the meantime.
      var base = base
      (base.fields, base.sequence, base.pending) = (remote.fields, MirrorBase.deletedHere, .unsent)
      return try tables.save(base, of: remote.id)
    }
    let table = try connection.table(remote.id.type)
    try merge(table.map(remote.stored) ?? remote, base)
  }

  /// Keeps an edit that the remote database rejects as unsent, and reports it once.
  private mutating func reject(
    _ edit: MirrorEdit, _ error: RecordError, _ base: inout MirrorBase
  ) throws {
    var error = error
    error.record = edit.id
    let text = error.reason.description
    if base.rejection != text || base.rejected != edit.sequence { report(.rejected(error)) }
    (base.rejection, base.rejected) = (text, edit.sequence)
    base.sent = nil
    base.pending.insert(.unsent)
    try tables.save(base, of: edit.id)
  }
}
