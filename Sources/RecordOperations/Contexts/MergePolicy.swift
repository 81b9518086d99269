/// How a context merges its changes with changes that others have saved to the same records.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
  /// Saves nothing and throws an error with the conflicts.
  case error
  /// Keeps the database's value of a field that both have changed, and keeps a record deleted that
  /// was deleted in the database.
  case storeWins
  /// Saves the context's value of a field that both have changed, and deletes a record that was
  /// deleted in the context.
  case objectWins
}

extension RecordChange {
  /// Returns the change rebased on the current state of the record in the database.
  ///
  /// - Parameter record: The record in the database; `nil` if there is none.
  /// - Returns: The change that is left to be made; `nil` if there is none.
  func merged(with record: DatabaseRecord?, by policy: MergePolicy) -> RecordChange? {
    switch (self, record) {
    // A deletion without a tag is unconditional.
    case (.delete(_, nil), .some): self
    case (.delete(let id, _), .some):
      policy == .storeWins ? nil : .delete(id, ifTagged: nil)
    case (.delete, nil): nil
    case (.save(let mine, _), nil):
      policy == .storeWins && mine.tag != nil ? nil : .save(mine.asNew(tagged: nil), .ifUnchanged)
    case (.save(let mine, _), let theirs?):
      mine.merged(into: theirs, by: policy).map { .save($0, .ifUnchanged) }
    }
  }

  /// Returns the change with null for each field that the database has and this change does not.
  ///
  /// - Parameter record: The record in the database; `nil` if there is none.
  func replacing(_ record: DatabaseRecord?) -> RecordChange {
    guard case .save(var mine, let policy) = self, let record else { return self }
    for key in record.keys where !mine.has(key) { mine[key] = .null }
    return .save(mine, policy)
  }
}

extension DatabaseRecord {
  /// Returns a new record in which all fields that are not null count as changed.
  ///
  /// - Parameter tag: The tag of the record that it replaces; `nil` if there is none.
  func asNew(tagged tag: RecordTag?) -> DatabaseRecord {
    var record = DatabaseRecord(id, fields: [:], tag: tag)
    for (key, value) in fields where value != .null { record[key] = value }
    return record
  }

  /// Whether another writer has changed a field that this record changes, to a different value.
  func isChanged(in theirs: DatabaseRecord) -> Bool {
    originals.contains { key, original in
      !theirs[key].isEquivalent(to: original) && !theirs[key].isEquivalent(to: self[key])
    }
  }

  /// Returns another writer's record with the changes of this one.
  ///
  /// - Returns: `nil` if no changes are left.
  func merged(into theirs: DatabaseRecord, by policy: MergePolicy) -> DatabaseRecord? {
    var merged = theirs
    for (key, original) in originals {
      let isTheirs = !theirs[key].isEquivalent(to: original)
      if isTheirs && policy == .storeWins { continue }
      merged[key] = self[key]
    }
    return merged.originals.isEmpty ? nil : merged
  }
}
