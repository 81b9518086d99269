extension RecordContext {
  /// What a context has changed and not saved yet.
  struct StateMachine: Sendable {
    private var changes: [RecordID: RecordChange] = [:]
    /// The order in which records were changed first.
    private var order: [RecordID] = []

    var isEmpty: Bool { changes.isEmpty }

    /// The changes, in their order.
    var pending: [RecordChange] { order.compactMap { changes[$0] } }

    /// What there is of a record; nil if the database has to be asked.
    func known(_ id: RecordID) -> PendingRecord? {
      switch changes[id] {
      case nil: nil
      case .save(let record, _): .record(record)
      case .delete: .deleted
      }
    }

    mutating func set(_ record: DatabaseRecord) {
      // As it was read: to save it would only be in the way of others.
      if record.tag != nil, record.changedKeys.isEmpty, changes[record.id] == nil { return }
      var record = record
      // Made again: the one that was deleted has the tag.
      if case .delete(_, let tag?)? = changes[record.id], record.tag == nil {
        let old = DatabaseRecord(record.id, fields: [:], tag: tag)
        var new = old
        for key in record.keys { new[key] = record[key] }
        record = new
      }
      put(.save(record, .ifUnchanged))
    }

    mutating func delete(_ id: RecordID, ifTagged tag: RecordTag?) {
      // One that was never saved is just not saved.
      if case .save(let record, _)? = changes[id], record.tag == nil {
        changes[id] = nil
        order.removeAll { $0 == id }
        return
      }
      put(.delete(id, ifTagged: tag))
    }

    mutating func reset() {
      changes = [:]
      order = []
    }

    /// Takes what somebody else has saved under the changes.
    mutating func merge(_ saved: [DatabaseRecord]) {
      for record in saved {
        guard case .save(let mine, _)? = changes[record.id], mine.tag != nil else { continue }
        changes[record.id] = mine.merged(into: record, by: .objectWins).map {
          .save($0, .ifUnchanged)
        }
      }
      order.removeAll { changes[$0] == nil }
    }

    /// Takes out what was saved or given up. What has been changed again in between goes on from there.
    mutating func settle(_ done: [RecordChange], as changed: ContextChanges) {
      for change in done where changes[change.id] == change { changes[change.id] = nil }
      merge(changed.saved)
    }

    private mutating func put(_ change: RecordChange) {
      if changes.updateValue(change, forKey: change.id) == nil { order.append(change.id) }
    }
  }

  enum PendingRecord: Sendable {
    case record(DatabaseRecord)
    case deleted
  }
}
