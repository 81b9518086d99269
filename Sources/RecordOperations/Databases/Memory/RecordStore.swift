#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Records in memory, and the order in which they were changed.
struct RecordStore {
  struct Row {
    var record: DatabaseRecord
    var sequence: Int
  }

  let identity = UUID().uuidString
  private(set) var rows: [RecordID: Row] = [:]
  /// The records with a reference to a record, except for references with the delete rule `keep`.
  private var referrers: [RecordID: Set<RecordID>] = [:]
  /// The deleted records, with the sequence number of their deletion.
  private(set) var tombstones: [RecordID: Int] = [:]
  private(set) var sequence = 0
  /// The sequence number up to which deletions are forgotten.
  private(set) var horizon = 0

  // MARK: Changing

  mutating func apply(_ batch: RecordBatch, at moment: Date) -> [RecordReply] {
    // Only for atomic batches: while this copy exists, the first change copies all records.
    let before = batch.isAtomic ? self : nil
    var replies: [RecordReply] = []
    for change in batch.changes {
      let reply = apply(change, at: moment)
      replies.append(reply)
      if case .failed = reply, let before {
        self = before
        return batch.changes.indices.map { index in
          index == replies.count - 1
            ? reply : .failed(RecordError(.batchFailed, of: batch.changes[index].id))
        }
      }
    }
    return replies
  }

  private mutating func apply(_ change: RecordChange, at moment: Date) -> RecordReply {
    do {
      switch change {
      case .save(let record, let policy): return .saved(try save(record, policy, at: moment))
      case .delete(let id, let tag):
        try delete(id, ifTagged: tag, at: moment)
        return .deleted
      }
    } catch { return .failed(error) }
  }

  private mutating func save(
    _ record: DatabaseRecord, _ policy: SavePolicy, at moment: Date
  ) throws(RecordError) -> DatabaseRecord {
    let existing = rows[record.id]?.record
    if policy == .ifUnchanged, existing?.tag != record.tag {
      throw RecordError(existing.map { .conflict($0) } ?? .unknownRecord, of: record.id)
    }
    let new = record.fields(by: policy)
    for (key, value) in new {
      if let problem = value.problem {
        throw RecordError(.invalid("the field \(key) \(problem)"), of: record.id)
      }
      if case .reference(let reference) = value, reference.onDelete != .keep,
        rows[reference.id] == nil, reference.id != record.id
      {
        throw RecordError(.referenceViolated(reference.id), of: record.id)
      }
    }
    var fields = existing?.fields ?? [:]
    if policy == .replace { for key in fields.keys { fields[key] = .null } }
    fields.merge(new) { $1 }
    // The time of a later edit of another field stays.
    let edited = record.edited.map { max($0, existing?.modified ?? $0) } ?? moment
    return keep(record.id, fields, at: min(edited, moment))
  }

  private mutating func delete(
    _ id: RecordID, ifTagged tag: RecordTag?, at moment: Date
  ) throws(RecordError) {
    guard let existing = rows[id]?.record else { throw RecordError(.unknownRecord, of: id) }
    if let tag, existing.tag != tag { throw RecordError(.conflict(existing), of: id) }
    // First collect all records that are deleted: a reference from one of them denies nothing.
    var deleted: Set<RecordID> = [id]
    var unvisited = [id]
    while let next = unvisited.popLast() {
      for (other, _, rule) in references(to: next) where rule == .cascade {
        if deleted.insert(other).inserted { unvisited.append(other) }
      }
    }
    var nullified: [RecordID: [String]] = [:]
    for next in deleted {
      for (other, key, rule) in references(to: next) where !deleted.contains(other) {
        switch rule {
        case .keep, .cascade: break
        case .deny: throw RecordError(.referenceViolated(other), of: id)
        case .nullify: nullified[other, default: []].append(key)
        }
      }
    }
    for id in deleted {
      put(nil, at: id)
      sequence += 1
      tombstones[id] = sequence
    }
    for (other, keys) in nullified { nullify(keys, of: other, at: moment) }
  }

  private func references(
    to id: RecordID
  ) -> [(from: RecordID, key: String, rule: RecordReference.DeleteRule)] {
    (referrers[id] ?? []).flatMap { other in
      (rows[other]?.record.fields ?? [:]).compactMap { key, value in
        guard case .reference(let reference) = value, reference.id == id else { return nil }
        return (other, key, reference.onDelete)
      }
    }
  }

  private mutating func nullify(_ keys: [String], of id: RecordID, at moment: Date) {
    guard let record = rows[id]?.record else { return }
    var fields = record.fields
    for key in keys { fields[key] = .null }
    keep(id, fields, at: moment)
  }

  @discardableResult
  private mutating func keep(
    _ id: RecordID, _ fields: [String: FieldValue], at moment: Date
  ) -> DatabaseRecord {
    sequence += 1
    let record = DatabaseRecord(id, fields: fields, tag: RecordTag("\(sequence)"), modified: moment)
    put(Row(record: record, sequence: sequence), at: id)
    tombstones[id] = nil
    return record
  }

  private mutating func put(_ row: Row?, at id: RecordID) {
    for target in rows[id]?.record.targets ?? [] {
      referrers[target]?.remove(id)
      if referrers[target]?.isEmpty == true { referrers[target] = nil }
    }
    rows[id] = row
    for target in row?.record.targets ?? [] { referrers[target, default: []].insert(id) }
  }

  /// Forgets which records were deleted, so that earlier tokens expire.
  mutating func forgetDeletions() {
    tombstones = [:]
    horizon = sequence
  }
}

extension DatabaseRecord {
  /// The records that its references refer to, except for references with the delete rule `keep`.
  fileprivate var targets: [RecordID] {
    fields.values.compactMap { value in
      guard case .reference(let reference) = value, reference.onDelete != .keep else { return nil }
      return reference.id
    }
  }
}
