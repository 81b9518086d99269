extension RecordContext {
  /// The unsaved changes of a context.
  struct StateMachine: Sendable {
    private var entries: [RecordID: Entry] = [:]
    private var nextNumber = 0
    /// The records of the save in progress.
    private var saving: Set<RecordID> = []

    private struct Entry {
      /// The position of the record in the order of first changes.
      let number: Int
      var change: RecordChange
      /// Whether the record was deleted and created again here, so that none of the old record's
      /// fields stay.
      var isRecreated = false
      /// Whether the deletion applies only if the save in progress succeeds.
      var isOnlyIfSaved = false
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The changes, in the order of the first change of each record.
    var pending: [RecordChange] {
      entries.values.sorted { $0.number < $1.number }.map(\.change)
    }

    /// The records that were deleted and created again here.
    var recreated: Set<RecordID> { Set(entries.filter(\.value.isRecreated).keys) }

    /// The local state of a record; `nil` if only the database knows it.
    func pendingRecord(_ id: RecordID) -> PendingRecord? {
      switch entries[id]?.change {
      case nil: nil
      case .save(let record, _): .record(record)
      case .delete: .deleted
      }
    }

    // MARK: Changing

    mutating func set(_ record: DatabaseRecord) {
      guard let entry = entries[record.id] else {
        // Unchanged since it was read: saving it could only cause conflicts.
        if record.tag != nil, record.changedKeys.isEmpty { return }
        return put(.save(record, .ifUnchanged))
      }
      switch entry.change {
      case .save(_, .replace) where record.tag == nil, .delete(_, nil) where record.tag == nil:
        // The deletion was unconditional, so the new record is saved unconditionally.
        put(.save(record, .replace))
      case .delete(_, let tag?) where record.tag == nil:
        put(.save(record.asNew(tagged: tag), .ifUnchanged), isRecreated: true)
      case .save(let old, _) where record.tag == nil && entry.isRecreated:
        put(.save(record.asNew(tagged: old.tag), .ifUnchanged), isRecreated: true)
      case .save, .delete: put(.save(record, .ifUnchanged), isRecreated: entry.isRecreated)
      }
    }

    mutating func delete(_ id: RecordID, ifTagged tag: RecordTag?) {
      // A record that was never saved needs no deletion.
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
      _ change: RecordChange, isRecreated: Bool = false, isOnlyIfSaved: Bool = false
    ) {
      nextNumber += 1
      let number = entries[change.id]?.number ?? nextNumber
      entries[change.id] = Entry(
        number: number, change: change, isRecreated: isRecreated, isOnlyIfSaved: isOnlyIfSaved)
    }

    // MARK: Saving

    /// Begins a save and returns its changes.
    mutating func beginSaving() -> (changes: [RecordChange], recreated: Set<RecordID>) {
      saving = Set(entries.keys)
      return (pending, recreated)
    }

    /// Ends a save that failed.
    mutating func failSaving() {
      for id in saving where entries[id]?.isOnlyIfSaved == true { entries[id] = nil }
      saving = []
    }

    /// Removes the changes that were saved or dropped.
    ///
    /// A record that was changed again during the save is rebased on its saved state.
    mutating func finishSaving(_ done: [RecordChange], as changed: ContextChanges) {
      saving = []
      let saved = Dictionary(changed.saved.map { ($0.id, $0) }) { $1 }
      let deleted = Set(changed.deleted)
      for change in done {
        guard let entry = entries[change.id] else { continue }
        if entry.change == change {
          entries[change.id] = nil
        } else if let record = saved[change.id] {
          rebase(entry, on: record)
        } else if deleted.contains(change.id) {
          rebaseOnDeletion(entry)
        }
      }
    }

    /// Rebases a change on the saved state of its record.
    private mutating func rebase(_ entry: Entry, on saved: DatabaseRecord) {
      switch entry.change {
      case .save(_, .replace): break
      case .save(let mine, _) where mine.tag == nil || entry.isRecreated:
        put(.save(mine.asNew(tagged: saved.tag), .ifUnchanged), isRecreated: true)
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

    /// Rebases a change of a record that was deleted.
    private mutating func rebaseOnDeletion(_ entry: Entry) {
      switch entry.change {
      case .save(_, .replace): break
      case .save(let mine, _): put(.save(mine.asNew(tagged: nil), .ifUnchanged))
      case .delete(let id, _): entries[id] = nil
      }
    }

    // MARK: Saves of other contexts

    /// Applies the saves of another context beneath the changes.
    ///
    /// Where both have changed the same field, the next save and its policy decide.
    mutating func merge(_ saved: [DatabaseRecord]) {
      for record in saved {
        guard let entry = entries[record.id], case .save(let mine, .ifUnchanged) = entry.change,
          mine.tag != nil, !entry.isRecreated, !saving.contains(record.id),
          !mine.isChanged(in: record)
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
