#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Records in memory, and the order in which they were changed.
struct RecordStore {
  private struct Row {
    var record: DatabaseRecord
    var sequence: Int
  }

  private let identity = UUID().uuidString
  private var rows: [RecordID: Row] = [:]
  /// The records with a reference to a record, except for references with the delete rule `keep`.
  private var referrers: [RecordID: Set<RecordID>] = [:]
  /// The deleted records, with the sequence number of their deletion.
  private var tombstones: [RecordID: Int] = [:]
  private var sequence = 0
  /// The sequence number up to which deletions are forgotten.
  private var horizon = 0

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
    return keep(record.id, fields, at: moment)
  }

  private mutating func delete(
    _ id: RecordID, ifTagged tag: RecordTag?, at moment: Date
  ) throws(RecordError) {
    guard let existing = rows[id]?.record else { throw RecordError(.unknownRecord, of: id) }
    if let tag, existing.tag != tag { throw RecordError(.conflict(existing), of: id) }
    // First collect all records that are deleted: a reference from one of them denies nothing.
    var going: Set<RecordID> = [id]
    var open = [id]
    while let next = open.popLast() {
      for (other, _, rule) in references(to: next) where rule == .cascade {
        if going.insert(other).inserted { open.append(other) }
      }
    }
    var emptied: [RecordID: [String]] = [:]
    for next in going {
      for (other, key, rule) in references(to: next) where !going.contains(other) {
        switch rule {
        case .keep, .cascade: break
        case .deny: throw RecordError(.referenceViolated(other), of: id)
        case .nullify: emptied[other, default: []].append(key)
        }
      }
    }
    for id in going {
      put(nil, at: id)
      sequence += 1
      tombstones[id] = sequence
    }
    for (other, keys) in emptied { empty(keys, of: other, at: moment) }
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

  private mutating func empty(_ keys: [String], of id: RecordID, at moment: Date) {
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

  // MARK: Reading

  func record(_ id: RecordID, keys: [String]?) -> DatabaseRecord? {
    rows[id]?.record.with(keys)
  }

  func page(
    of query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) throws -> RecordPage {
    let place = try cursor.map { try Place($0, in: query) }
    let matching = rows.values.lazy.map(\.record).filter { record in
      record.id.type == query.type && record.id.zone == query.zone
        && query.predicate?.matches(record) ?? true
    }
    let behind = matching.map { Place(of: $0, in: query) }
      .filter { other in place.map { $0.precedes(other, in: query) } ?? true }
    // One more record shows whether this is the last page.
    let found = behind.first(count == .max ? count : count + 1) { $0.precedes($1, in: query) }
    let records = found.prefix(count).compactMap { record($0.id, keys: query.keys) }
    let last = found.count > count ? found[count - 1] : nil
    return RecordPage(records, cursor: last?.cursor)
  }

  /// The position of a record in the results of a query.
  private struct Place {
    let values: [FieldValue]
    let id: RecordID

    init(of record: DatabaseRecord, in query: RecordQuery) {
      values = query.order.map { record[$0.key] }
      id = record.id
    }

    init(_ cursor: RecordCursor, in query: RecordQuery) throws {
      guard cursor.values.count == query.order.count + 1,
        case .string(let name)? = cursor.values.last
      else { throw RecordError(.invalid("the cursor belongs to another query or database")) }
      values = Array(cursor.values.dropLast())
      id = RecordID(query.type, name, in: query.zone)
    }

    var cursor: RecordCursor { RecordCursor(values + [.string(id.name)]) }

    func precedes(_ other: Place, in query: RecordQuery) -> Bool {
      for (index, order) in query.order.enumerated() {
        let (one, two) = (values[index], other.values[index])
        if one.precedes(two) { return order.direction == .ascending }
        if two.precedes(one) { return order.direction == .descending }
      }
      return id.precedes(other.id)
    }
  }

  // MARK: Changes

  func changes(
    since token: ChangeToken?, in zone: RecordZone, atMost count: Int
  ) throws -> ChangePage {
    // Without a token, past deletions need not be reported.
    var since = Progress(position: 0, deletions: sequence)
    if let token {
      guard let progress = Progress(token, of: identity), progress.deletions >= horizon,
        progress.position <= sequence
      else { throw RecordError(.tokenExpired) }
      since = progress
    }
    let saved = rows.values.map { ($0.sequence, $0.record.id) }
      .filter { $0.0 > since.position }
    let deleted = tombstones.map { ($0.value, $0.key) }.filter { $0.0 > since.deletions }
    let new = (saved + deleted).filter { $0.1.zone == zone }.sorted { $0.0 < $1.0 }
    let told = new.prefix(count)
    let hasMore = told.count < new.count
    let position = hasMore ? told.last?.0 ?? since.position : sequence
    let next = Progress(position: position, deletions: max(position, since.deletions))
    return ChangePage(
      changed: told.compactMap { rows[$0.1]?.record },
      deleted: told.map(\.1).filter { rows[$0] == nil }, token: next.token(of: identity),
      hasMore: hasMore)
  }

  /// The position of a reader in the changes.
  private struct Progress {
    /// The sequence number up to which saved records were reported.
    let position: Int
    /// The sequence number up to which deletions were reported, or need not be.
    let deletions: Int

    init(position: Int, deletions: Int) {
      self.position = position
      self.deletions = deletions
    }

    init?(_ token: ChangeToken, of identity: String) {
      let parts = token.description.split(separator: " ")
      guard parts.count == 3, parts[0] == identity, let position = Int(parts[1]),
        let deletions = Int(parts[2])
      else { return nil }
      self.init(position: position, deletions: deletions)
    }

    func token(of identity: String) -> ChangeToken {
      ChangeToken("\(identity) \(position) \(deletions)")
    }
  }

  mutating func forgetDeletions() {
    tombstones = [:]
    horizon = sequence
  }
}

extension Sequence {
  /// Returns the first elements in an order, without keeping all elements in memory.
  ///
  /// - Complexity: O(*n* log `count`).
  fileprivate func first(
    _ count: Int, by precedes: (Element, Element) -> Bool
  ) -> [Element] {
    var first: [Element] = []
    var last: Element?
    for element in self {
      if let last, !precedes(element, last) { continue }
      first.append(element)
      if first.count > count, first.count - count > count {
        first.sort(by: precedes)
        first.removeLast(first.count - count)
        last = first.last
      }
    }
    first.sort(by: precedes)
    return Array(first.prefix(count))
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

  /// Returns the record with only these fields; with all of them for `nil`.
  package func with(_ keys: [String]?) -> DatabaseRecord {
    guard let keys else { return self }
    let wanted = Set(keys)
    return DatabaseRecord(
      id, fields: fields.filter { wanted.contains($0.key) }, tag: tag, modified: modified)
  }
}

extension FieldValue {
  /// The reason why no database can store the value; `nil` if one can.
  package var problem: String? {
    switch self {
    case .double(let number) where number.isNaN: "is NaN, which no database can store"
    case .date(let date) where !Date.texts.contains(date):
      "is a date outside the years 1 to 9999, \(date.timeIntervalSince1970) seconds since 1970"
    case .list(let elements):
      elements.lazy.compactMap { element in
        switch element {
        case .list: "has a list in a list"
        case .reference(let reference) where reference.onDelete != .keep:
          "has a reference to \(reference.id) in a list, where its delete rule must be .keep"
        default: element.problem
        }
      }.first
    case .null, .integer, .double, .string, .bytes, .date, .reference: nil
    }
  }
}
