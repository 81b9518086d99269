extension RecordContext {
  /// What a context has changed and not saved yet.
  struct StateMachine: Sendable {
    private var entries: [RecordID: Entry] = [:]
    private var nextNumber = 0
    /// What is on its way to the database.
    private var saving: Set<RecordID> = []

    private struct Entry {
      /// When the record was changed first, among the others.
      let number: Int
      var change: RecordChange
      /// Whether it was deleted here and made again: nothing of the old one stays.
      var isRemade = false
      /// Whether it is deleted if it is saved, which it is just about to be.
      var isOnlyIfSaved = false
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The changes, in the order in which the records were changed first.
    var pending: [RecordChange] {
      entries.values.sorted { $0.number < $1.number }.map(\.change)
    }

    /// The records that were deleted here and made again.
    var remade: Set<RecordID> { Set(entries.filter(\.value.isRemade).keys) }

    /// What there is of a record; nil if the database has to be asked.
    func known(_ id: RecordID) -> PendingRecord? {
      switch entries[id]?.change {
      case nil: nil
      case .save(let record, _): .record(record)
      case .delete: .deleted
      }
    }

    // MARK: Changing

    mutating func set(_ record: DatabaseRecord) {
      guard let entry = entries[record.id] else {
        // As it was read: to save it would only be in the way of others.
        if record.tag != nil, record.changedKeys.isEmpty { return }
        return put(.save(record, .ifUnchanged))
      }
      switch entry.change {
      case .save(_, .replace) where record.tag == nil, .delete(_, nil) where record.tag == nil:
        // Whoever has saved the one that was deleted.
        put(.save(record, .replace))
      case .delete(_, let tag?) where record.tag == nil:
        put(.save(record.anew(tagged: tag), .ifUnchanged), isRemade: true)
      case .save(let old, _) where record.tag == nil && entry.isRemade:
        put(.save(record.anew(tagged: old.tag), .ifUnchanged), isRemade: true)
      case .save, .delete: put(.save(record, .ifUnchanged), isRemade: entry.isRemade)
      }
    }

    mutating func delete(_ id: RecordID, ifTagged tag: RecordTag?) {
      // One that was never saved is just not saved.
      if case .save(let record, .ifUnchanged)? = entries[id]?.change, record.tag == nil {
        entries[id] = nil
        guard saving.contains(id) else { return }
        put(.delete(id, ifTagged: nil), isOnlyIfSaved: true)
      } else {
        put(.delete(id, ifTagged: tag))
      }
    }

    mutating func reset() { entries = [:] }

    private mutating func put(
      _ change: RecordChange, isRemade: Bool = false, isOnlyIfSaved: Bool = false
    ) {
      nextNumber += 1
      let number = entries[change.id]?.number ?? nextNumber
      entries[change.id] = Entry(
        number: number, change: change, isRemade: isRemade, isOnlyIfSaved: isOnlyIfSaved)
    }

    // MARK: Saving

    /// The changes that are to be saved now.
    mutating func beginSaving() -> (changes: [RecordChange], remade: Set<RecordID>) {
      saving = Set(entries.keys)
      return (pending, remade)
    }

    /// They are not saved.
    mutating func failSaving() {
      for id in saving where entries[id]?.isOnlyIfSaved == true { entries[id] = nil }
      saving = []
    }

    /// Takes out what was saved or given up. What has been changed again in between goes on from there.
    mutating func finishSaving(_ done: [RecordChange], as changed: ContextChanges) {
      saving = []
      let saved = Dictionary(changed.saved.map { ($0.id, $0) }) { $1 }
      let deleted = Set(changed.deleted)
      for change in done {
        guard let entry = entries[change.id] else { continue }
        if entry.change == change {
          entries[change.id] = nil
        } else if let record = saved[change.id] {
          goOn(with: entry, behind: record)
        } else if deleted.contains(change.id) {
          goOnBehindDeletion(with: entry)
        }
      }
    }

    private mutating func goOn(with entry: Entry, behind saved: DatabaseRecord) {
      switch entry.change {
      case .save(_, .replace): break
      case .save(let mine, _) where mine.tag == nil || entry.isRemade:
        put(.save(mine.anew(tagged: saved.tag), .ifUnchanged), isRemade: true)
      case .save(let mine, _):
        if let merged = mine.merged(into: saved, by: .objectWins) {
          put(.save(merged, .ifUnchanged))
        } else {
          entries[saved.id] = nil
        }
      case .delete(_, nil) where !entry.isOnlyIfSaved: break
      case .delete: put(.delete(saved.id, ifTagged: saved.tag))
      }
    }

    private mutating func goOnBehindDeletion(with entry: Entry) {
      switch entry.change {
      case .save(_, .replace): break
      case .save(let mine, _): put(.save(mine.anew(tagged: nil), .ifUnchanged))
      case .delete(let id, _): entries[id] = nil
      }
    }

    // MARK: What others save

    /// Takes what somebody else has saved under the changes. Where both have changed the same, that is left to the next
    /// save and its policy.
    mutating func merge(_ saved: [DatabaseRecord]) {
      for record in saved {
        guard let entry = entries[record.id], case .save(let mine, .ifUnchanged) = entry.change,
          mine.tag != nil, !entry.isRemade, !saving.contains(record.id), !mine.isChanged(in: record)
        else { continue }
        if let merged = mine.merged(into: record, by: .objectWins) {
          put(.save(merged, .ifUnchanged))
        } else {
          entries[record.id] = nil
        }
      }
    }
  }

  enum PendingRecord: Sendable {
    case record(DatabaseRecord)
    case deleted
  }
}
