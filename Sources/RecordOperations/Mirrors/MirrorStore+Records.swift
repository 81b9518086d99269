internal import SQLiteSupport

/// The merge of single records.
extension MirrorStore {
  /// Returns the local state of a record, without fields that the file computes; nil if there is
  /// none.
  func local(_ id: RecordID) throws -> DatabaseRecord? {
    guard let record = try Self.local(id, on: connection) else { return nil }
    guard let values = setAside[id] else { return record }
    return DatabaseRecord(
      id, fields: record.fields.merging(values) { $1 }, tag: record.tag, modified: record.modified)
  }

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
    let remote = try connection.table(remote.id.type).map(remote.stored) ?? remote
    var base = try tables.base(of: remote.id) ?? MirrorBase()
    let isStored = base.waiting == nil && base.sequence != MirrorBase.notStored
    if base.tag == remote.tag, isStored, remote.hasSameFields(as: base.fields) {
      // The mirror itself has saved or stored this state.
      guard !base.pending.isDisjoint(with: [.missing, .unread]) else { return }
      if base.pending.contains(.unread) { (base.rejection, base.rejected) = (nil, nil) }
      base.pending.subtract([.missing, .unread])
      return try tables.save(base, of: remote.id)
    }
    base.pending.subtract([.missing, .unread])
    try merge(remote, base)
  }

  /// Merges a remote state, as the local file stores it, into the local state.
  ///
  /// - Parameter base: The last common state.
  /// - Throws: A ``RecordError`` or a ``SQLiteError`` if the local file cannot store the result.
  mutating func merge(_ remote: DatabaseRecord, _ base: MirrorBase) throws {
    guard var local = try local(remote.id) else { return try restore(remote, base) }
    var base = base
    if base.sequence == MirrorBase.deletedHere {
      base.fields = base.fields.filter { local.has($0.key) }
    }
    var merge = ThreeWayMerge(
      base: base.fields, sent: base.sent ?? [:], isWhole: base.pending.contains(.whole),
      local: local,
      remote: remote)
    if !merge.conflicts.isEmpty {
      guard try resolve(&merge, local, remote, base) else { return }
    }
    let changes = merge.changes
    if !changes.isEmpty {
      for (key, value) in changes { local[key] = value }
      // A local edit that is not sent yet stays as old as it is.
      local.edited = local.sequence == base.sequence ? remote.modified : local.modified
      let saved = try save(local)
      report(.saved(saved))
      local = try self.local(remote.id) ?? saved
    }
    let isInStep = remote.isInStep(with: local)
    base.tag = remote.tag
    base.fields = remote.fields
    base.sequence = isInStep ? local.sequence : MirrorBase.noSequence
    base.pending = isInStep ? [] : .unsent
    base.waiting = nil
    if isInStep || base.sent?.contains(where: { remote[$0.key].isSame(as: $0.value) }) == true {
      base.sent = nil
    }
    if isInStep { (base.rejection, base.rejected) = (nil, nil) }
    try tables.save(base, of: remote.id)
  }

  /// Stores a remote state of which there is no local one: the record is new here, or was deleted.
  private mutating func restore(_ remote: DatabaseRecord, _ base: MirrorBase) throws {
    // A record that was deleted after it was sent may exist without a known tag.
    let wasDeleted =
      (base.tag != nil || base.sent != nil) && base.sequence != MirrorBase.notStored
    let before = base.fields.merging(base.sent ?? [:]) { $1 }
    // With the same tag, only a column was added.
    let isSameState = base.tag != nil && base.tag == remote.tag
    let isEdited = !isSameState && !remote.hasSameFields(as: before)
    if wasDeleted, !isEdited || deletions == .win {
      if isEdited {
        for key in remote.keys where !remote[key].isSame(as: before[key] ?? .null) {
          try lose(key, of: remote.id, remote[key], from: .remote)
        }
      }
      var base = base
      (base.tag, base.fields, base.sent, base.waiting) = (remote.tag, remote.fields, nil, nil)
      (base.sequence, base.pending) = (MirrorBase.deletedHere, .unsent)
      return try tables.save(base, of: remote.id)
    }
    if wasDeleted { try lose(nil, of: remote.id, from: .local) }
    var record = remote.asNew(tagged: nil)
    if let table = try connection.table(remote.id.type) {
      // The defaults of the table are not values of the record.
      for column in table.fields
      where column.isWritable && !column.isRequired && !record.has(column.name) {
        record[column.name] = .null
      }
    }
    let saved = try save(record)
    report(.saved(saved))
    // The file may have changed it, by a default or a trigger. That is an edit.
    let isInStep = try local(remote.id).map { remote.isInStep(with: $0) } ?? false
    try tables.save(
      MirrorBase(
        tag: remote.tag, fields: remote.fields,
        sequence: isInStep ? saved.sequence : MirrorBase.noSequence,
        pending: isInStep ? [] : .unsent), of: remote.id)
  }

  /// Saves a record, and returns it as it was saved.
  mutating func save(_ record: DatabaseRecord) throws -> DatabaseRecord {
    let saved = try withTriggersOnce(for: record.id.type) {
      guard case .saved(let saved) = try connection.apply(.save(record, .ifUnchanged)) else {
        preconditionFailure("the reply to a save must be a saved record")
      }
      return saved
    }
    if let values = setAside[record.id], record.changedKeys.isSuperset(of: values.keys) {
      setAside[record.id] = nil
    }
    return saved
  }

  /// Runs a body without recursive triggers: a trigger that updates its own row, such as with the time, would run again
  /// and again.
  func withTriggersOnce<Result>(for type: String, _ body: () throws -> Result) throws -> Result {
    guard try connection.table(type)?.hasOtherTriggers == true else { return try body() }
    try connection.execute("PRAGMA recursive_triggers = OFF")
    defer {
      // Later requests need it, even if this one is cancelled.
      connection.ignoringCancellation {
        try? connection.execute("PRAGMA recursive_triggers = ON")
      }
    }
    return try body()
  }
}

extension FieldValue {
  /// The value with the delete rule of its column: the databases may have different rules.
  fileprivate func adapted(to column: SQLiteColumn) -> FieldValue {
    guard case .reference(let reference) = self else { return self }
    switch column.meaning {
    case .foreignKey(let type, let rule) where type == reference.id.type:
      return .reference(RecordReference(reference.id, onDelete: rule))
    case .keptReference: return .reference(RecordReference(reference.id))
    case .foreignKey, .date, .list, .plain: return self
    }
  }
}

extension DatabaseRecord {
  /// Returns a remote state as the local file stores it: without fields that the file computes, and
  /// with the kinds of values and the delete rules of its columns.
  func stored(in table: SQLiteTable) -> DatabaseRecord {
    var changes: [(key: String, value: FieldValue?)] = []
    for (key, value) in fields {
      guard let column = table.column(named: key) else { continue }
      if !column.isWritable {
        changes.append((key, nil))
        continue
      }
      var stored = value.adapted(to: column)
      // The columns of a table that was created here have the kinds of the values. A value that a
      // column does not take stays as it is, so that the save names it.
      if !table.isOwn,
        let inRow = try? column.stored(stored, of: table.name, isOwn: false)
      {
        stored = column.fieldValue(inRow)
      }
      if stored != value { changes.append((key, stored)) }
    }
    if changes.isEmpty { return self }
    var fields = fields
    for (key, value) in changes { fields[key] = value }
    return DatabaseRecord(id, fields: fields, tag: tag, modified: modified)
  }

  /// Whether the local state has the values of this remote state. Fields for which the local file has
  /// no column are left out.
  fileprivate func isInStep(with local: DatabaseRecord) -> Bool {
    fields.allSatisfy { !local.has($0) || $1.isSame(as: local[$0]) }
      && local.fields.allSatisfy { has($0) || $1 == .null }
  }
}
