extension RecordContext {
  /// What a context has changed and not saved yet.
  struct StateMachine: Sendable {
    private var entries: [RecordID: Entry] = [:]
    private var nextNumber = 0

    private struct Entry {
      /// When the record was changed first, among the others.
      let number: Int
      var change: RecordChange
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The changes, in the order in which the records were changed first.
    var pending: [RecordChange] {
      entries.values.sorted { $0.number < $1.number }.map(\.change)
    }

    /// What there is of a record; nil if the database has to be asked.
    func known(_ id: RecordID) -> PendingRecord? {
      switch entries[id]?.change {
      case nil: nil
      case .save(let record, _): .record(record)
      case .delete: .deleted
      }
    }

    mutating func set(_ record: DatabaseRecord) {
      // As it was read: to save it would only be in the way of others.
      if record.tag != nil, record.changedKeys.isEmpty, entries[record.id] == nil { return }
      var record = record
      // Made again: the one that was deleted has the tag.
      if case .delete(_, let tag?)? = entries[record.id]?.change, record.tag == nil {
        let old = DatabaseRecord(record.id, fields: [:], tag: tag)
        var new = old
        for key in record.keys { new[key] = record[key] }
        record = new
      }
      put(.save(record, .ifUnchanged))
    }

    mutating func delete(_ id: RecordID, ifTagged tag: RecordTag?) {
      // One that was never saved is just not saved.
      if case .save(let record, _)? = entries[id]?.change, record.tag == nil {
        entries[id] = nil
        return
      }
      put(.delete(id, ifTagged: tag))
    }

    mutating func reset() { entries = [:] }

    /// Takes what somebody else has saved under the changes.
    mutating func merge(_ saved: [DatabaseRecord]) {
      for record in saved {
        guard case .save(let mine, _)? = entries[record.id]?.change, mine.tag != nil else {
          continue
        }
        if let merged = mine.merged(into: record, by: .objectWins) {
          put(.save(merged, .ifUnchanged))
        } else {
          entries[record.id] = nil
        }
      }
    }

    /// Takes out what was saved or given up. What has been changed again in between goes on from there.
    mutating func settle(_ done: [RecordChange], as changed: ContextChanges) {
      for change in done where entries[change.id]?.change == change { entries[change.id] = nil }
      merge(changed.saved)
    }

    private mutating func put(_ change: RecordChange) {
      nextNumber += 1
      entries[change.id, default: Entry(number: nextNumber, change: change)].change = change
    }
  }

  enum PendingRecord: Sendable {
    case record(DatabaseRecord)
    case deleted
  }
}
