internal import SQLiteSupport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Brings remote states into the local file, in one transaction.
struct MirrorStore {
  let connection: SQLiteConnection
  let tables: MirrorTables
  private let policy: ConflictPolicy
  let deletions: DeletionPolicy
  /// The mirrored types.
  let mirrored: Set<String>
  private let now = Date().toTheMillisecond
  /// The decisions of the caller about the conflicts of this transaction.
  private let decisions: [RecordID: MirrorDecision]
  /// What has happened, to be reported after the commit.
  private(set) var changes: [MirrorChange] = []
  /// The conflicts about which the caller has not decided yet.
  private(set) var undecided: [MirrorConflict] = []

  init(
    _ connection: SQLiteConnection, of mirror: RecordMirror, decisions: [RecordID: MirrorDecision]
  ) {
    self.connection = connection
    tables = MirrorTables(connection: connection, mirror: mirror.name)
    (policy, deletions) = (mirror.conflicts, mirror.deletions)
    mirrored = Set(mirror.types)
    self.decisions = decisions
  }

  mutating func report(_ change: MirrorChange) { changes.append(change) }

  /// Notes that all records of the remote database follow.
  ///
  /// - Parameter remote: The ID of the remote database.
  mutating func startOver(in remote: String?, isFirst: Bool) throws {
    if !isFirst { report(.startedOver) }
    guard var position = try tables.position() else { return }
    if position.remote == remote {
      // A record that the database does not report was deleted there.
      try tables.markAllMissing()
    } else {
      // Another database has nothing in common with this file, and has deleted nothing.
      try tables.forgetAll()
      position.examined = 0
      position.remote = remote
      try tables.save(position)
    }
  }

  // MARK: Several records

  /// Brings remote states into the local file. A record that refers to a record that is not here
  /// yet waits; records that refer to each other are stored together.
  ///
  /// - Parameter isComplete: Whether no more records follow, so that a record that has to wait is
  ///   rejected.
  mutating func integrate(_ records: [DatabaseRecord], isComplete: Bool = false) throws {
    var waiting = records.count > 1 ? try insertNew(records) : records
    var violations: [RecordID: RecordError] = [:]
    while !waiting.isEmpty {
      let count = waiting.count
      waiting = try waiting.filter { record in
        violations[record.id] = try integrateOrReject(record)
        return violations[record.id] != nil
      }
      if waiting.count == count { break }
    }
    if waiting.isEmpty { return }
    if try integrateTogether(waiting) { return }
    for record in waiting {
      try wait(record, rejection: isComplete ? violations[record.id] : nil)
    }
  }

  /// - Returns: The error of a record that refers to a record that is not here.
  private mutating func integrateOrReject(_ record: DatabaseRecord) throws -> RecordError? {
    do {
      try savepoint { store in try store.integrate(record) }
      return nil
    } catch {
      let error = try connection.failure(error, of: record.id)
      if case .referenceViolated = error.reason { return error }
      try wait(record, rejection: error)
      return nil
    }
  }

  /// Stores records that refer to each other.
  ///
  /// - Returns: False, without a change, if one of them refers to a record that is not here.
  private mutating func integrateTogether(_ records: [DatabaseRecord]) throws -> Bool {
    guard records.count > 1 else { return false }
    struct Incomplete: Error {}
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    do {
      try savepoint { store in
        for record in records { try store.integrate(record) }
        if store.connection.hasDeferredViolations { throw Incomplete() }
      }
    } catch {
      try connection.execute("PRAGMA defer_foreign_keys = OFF")
      if error is Incomplete { return false }
      // One of them is rejected. Without it, the others are stored in a later round.
      _ = try connection.failure(error, of: records[0].id)
      return false
    }
    try connection.execute("PRAGMA defer_foreign_keys = OFF")
    return true
  }

  /// Runs a body in a savepoint. If it throws, nothing is reported either.
  mutating func savepoint<Result>(_ body: (inout MirrorStore) throws -> Result) throws -> Result {
    let (reported, questions) = (changes.count, undecided.count)
    let connection = connection
    do { return try connection.savepoint { try body(&self) } } catch {
      changes.removeLast(changes.count - reported)
      undecided.removeLast(undecided.count - questions)
      throw error
    }
  }

  /// Keeps a remote state that cannot be stored locally.
  private mutating func wait(_ record: DatabaseRecord, rejection: RecordError?) throws {
    var base = try tables.base(of: record.id) ?? MirrorBase()
    let isNews = base.waiting.map { !record.hasSameFields(as: $0.fields) } ?? true
    base.waiting = (record.tag, record.fields)
    base.pending.insert(.waiting)
    base.pending.remove(.missing)
    let text = rejection?.reason.description
    if isNews || base.rejection != text, let rejection { report(.rejected(rejection)) }
    // A record that waits in vain is not written in each round.
    if !isNews, base.rejection == text { return }
    (base.rejection, base.rejected) = (text, nil)
    try tables.save(base, of: record.id)
  }

  // MARK: One record

  /// Returns the local state of a record, without fields that cannot be written; nil if there is
  /// none.
  func local(_ id: RecordID) throws -> DatabaseRecord? { try Self.local(id, on: connection) }

  static func local(
    _ id: RecordID, on connection: SQLiteConnection
  ) throws -> DatabaseRecord? {
    guard let table = try connection.table(id.type) else { return nil }
    let keys =
      table.fields.contains { !$0.isWritable }
      ? table.fields.filter(\.isWritable).map(\.name) : nil
    return try connection.record(id.name, in: table, keys: keys)
  }

  /// Brings a remote state into the local file.
  ///
  /// - Throws: A ``RecordError`` or a ``SQLiteError`` if the local file cannot store it.
  mutating func integrate(_ remote: DatabaseRecord) throws {
    var base = try tables.base(of: remote.id) ?? MirrorBase()
    let isStored = base.waiting == nil && base.sequence != MirrorBase.notStored
    if base.tag == remote.tag, isStored, remote.hasSameFields(as: base.fields) {
      // The mirror itself has saved or stored this state.
      guard base.pending.contains(.missing) else { return }
      base.pending.remove(.missing)
      return try tables.save(base, of: remote.id)
    }
    base.pending.remove(.missing)
    try integrate(remote, base)
  }

  /// Brings a remote state into the local file.
  ///
  /// - Parameter base: The last common state.
  /// - Throws: A ``RecordError`` or a ``SQLiteError`` if the local file cannot store it.
  mutating func integrate(_ remote: DatabaseRecord, _ base: MirrorBase) throws {
    guard let local = try local(remote.id) else { return try restore(remote, base) }
    var merge = ThreeWayMerge(base: base.fields, sent: base.sent, local: local, remote: remote)
    if !merge.conflicts.isEmpty {
      guard try resolve(&merge, local, remote, base) else { return }
    }
    var merged = local
    for (key, value) in merge.fields where !value.isSame(as: local[key]) { merged[key] = value }
    var sequence = local.sequence
    if !merged.changedKeys.isEmpty {
      let saved = try save(try adapted(merged), .ifUnchanged)
      sequence = saved.sequence
      report(.saved(saved))
    }
    var base = base
    let isInStep = remote.hasSameFields(as: merge.fields)
    base.tag = remote.tag
    base.fields = remote.fields
    base.sequence = isInStep ? sequence : MirrorBase.noSequence
    base.pending = isInStep ? [] : .unsent
    base.waiting = nil
    if base.sent.contains(where: { remote[$0.key].isSame(as: $0.value) }) || isInStep {
      base.sent = [:]
    }
    if isInStep { (base.rejection, base.rejected) = (nil, nil) }
    try tables.save(base, of: remote.id)
  }

  /// Stores a remote state of which there is no local one: the record is new here, or was deleted.
  private mutating func restore(_ remote: DatabaseRecord, _ base: MirrorBase) throws {
    // A record that was deleted after it was sent may exist without a known tag.
    let wasDeleted =
      (base.tag != nil || !base.sent.isEmpty) && base.sequence != MirrorBase.notStored
    var base = base
    base.fields.merge(base.sent) { $1 }
    base.sent = [:]
    let isEdited = !remote.hasSameFields(as: base.fields)
    (base.tag, base.waiting) = (remote.tag, nil)
    if wasDeleted, !isEdited || deletions == .win {
      if isEdited {
        for key in remote.keys where !remote[key].isSame(as: base.fields[key] ?? .null) {
          try lose(key, of: remote.id, remote[key], from: .remote)
        }
      }
      base.fields = remote.fields
      base.pending = .unsent
      return try tables.save(base, of: remote.id)
    }
    if wasDeleted {
      try lose(nil, of: remote.id, from: .local)
    }
    let saved = try save(try adapted(remote.asNew(tagged: nil)), .ifUnchanged)
    report(.saved(saved))
    base = MirrorBase(tag: remote.tag, fields: remote.fields, sequence: saved.sequence)
    try tables.save(base, of: remote.id)
  }

  /// Returns a record whose changed references have the delete rules of the local columns.
  private func adapted(_ record: DatabaseRecord) throws -> DatabaseRecord {
    let keys = record.changedKeys.filter { if case .reference = record[$0] { true } else { false } }
    guard !keys.isEmpty, let table = try connection.table(record.id.type) else { return record }
    var record = record
    for key in keys {
      if let column = table.column(named: key) { record[key] = record[key].adapted(to: column) }
    }
    return record
  }

  private func save(_ record: DatabaseRecord, _ policy: SavePolicy) throws -> DatabaseRecord {
    guard case .saved(let saved) = try connection.apply(.save(record, policy)) else {
      preconditionFailure("the reply to a save must be a saved record")
    }
    return saved
  }

  /// Keeps and reports a value that lost a conflict, or a deletion.
  mutating func lose(
    _ field: String?, of record: RecordID, _ lost: FieldValue = .null, kept: FieldValue = .null,
    from side: LostValue.Side
  ) throws {
    let value = LostValue(
      record: record, field: field, lost: lost, kept: kept, side: side, date: now)
    try tables.save(value)
    report(.lost(value))
  }

  // MARK: Conflicts

  /// Resolves the conflicts of a merge by the policy.
  ///
  /// - Returns: False if the caller has to decide first.
  private mutating func resolve(
    _ merge: inout ThreeWayMerge, _ local: DatabaseRecord, _ remote: DatabaseRecord,
    _ base: MirrorBase
  ) throws -> Bool {
    let decision: RecordMerge
    switch policy {
    case .remoteWins: decision = .remote
    case .localWins: decision = .local
    case .newest: decision = Self.newest(of: merge.conflicts, local, remote)
    case .decided:
      guard let made = decisions[local.id], made.isAbout(local, remote) else {
        let before = base.tag.map { DatabaseRecord(local.id, fields: base.fields, tag: $0) }
        undecided.append(
          MirrorConflict(base: before, local: local, remote: remote, fields: merge.conflicts))
        return false
      }
      decision = made.merge
    }
    for key in merge.conflicts {
      let kept: FieldValue
      switch decision {
      case .remote: kept = remote[key]
      case .local: kept = local[key]
      case .values(let values): kept = values[key] ?? remote[key]
      }
      merge.resolve(key, as: kept)
      for (value, side) in [(local[key], LostValue.Side.local), (remote[key], .remote)]
      where !value.isSame(as: kept) {
        try lose(key, of: local.id, value, kept: kept, from: side)
      }
    }
    return true
  }

  private static func newest(
    of keys: [String], _ local: DatabaseRecord, _ remote: DatabaseRecord
  ) -> RecordMerge {
    if local.modified != remote.modified {
      guard let mine = local.modified else { return .remote }
      guard let theirs = remote.modified else { return .local }
      return mine > theirs ? .local : .remote
    }
    var values: [String: FieldValue] = [:]
    for key in keys {
      values[key] = remote[key].precedes(local[key]) ? local[key] : remote[key]
    }
    return .values(values)
  }
}

/// A decision of the caller about a conflict.
struct MirrorDecision {
  let local: RecordTag?
  let remote: DatabaseRecord
  let merge: RecordMerge

  /// Whether the decision was made about these states.
  func isAbout(_ local: DatabaseRecord, _ remote: DatabaseRecord) -> Bool {
    self.local == local.tag && self.remote == remote
  }
}

extension DatabaseRecord {
  /// The local tag as a number.
  var sequence: Int64 { tag.flatMap { Int64($0.description) } ?? MirrorBase.notStored }
}
