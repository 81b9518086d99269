/// What becomes of changes in a context where somebody else has changed the same records.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
  /// Nothing is saved, and the error tells the conflicts.
  case error
  /// Of a field that both have changed, what is in the database stays, and so does a record that is deleted there.
  case storeWins
  /// Of a field that both have changed, what the context has is saved, and a record that it has deleted is deleted.
  case objectWins
}

extension RecordChange {
  /// It as it can be made where the database has another record than the one it is about, by a policy.
  ///
  /// - Parameter record: What is there; nil if nothing is.
  /// - Returns: What is left to be done; nil if nothing is.
  func merged(with record: DatabaseRecord?, by policy: MergePolicy) -> RecordChange? {
    switch (self, record) {
    // Whoever has saved it.
    case (.delete(_, nil), .some): self
    case (.delete(let id, _), .some):
      policy == .storeWins ? nil : .delete(id, ifTagged: nil)
    case (.delete, nil): nil
    case (.save(let mine, _), nil):
      policy == .storeWins && mine.tag != nil ? nil : .save(mine.anew(tagged: nil), .ifUnchanged)
    case (.save(let mine, _), let theirs?):
      mine.merged(into: theirs, by: policy).map { .save($0, .ifUnchanged) }
    }
  }

  /// It with null for all that is there and that it does not have itself.
  ///
  /// - Parameter record: What is there; nil if nothing is.
  func replacing(_ record: DatabaseRecord?) -> RecordChange {
    guard case .save(var mine, let policy) = self, let record else { return self }
    for key in record.keys where !mine.has(key) { mine[key] = .null }
    return .save(mine, policy)
  }
}

extension DatabaseRecord {
  /// It as one that is made now, with all that it has.
  ///
  /// - Parameter tag: That of the one whose place it takes; nil if there is none.
  func anew(tagged tag: RecordTag?) -> DatabaseRecord {
    var record = DatabaseRecord(id, fields: [:], tag: tag)
    for (key, value) in fields where value != .null { record[key] = value }
    return record
  }

  /// Whether somebody else has changed what it changes, and not to the same.
  func isChanged(in theirs: DatabaseRecord) -> Bool {
    originals.contains { key, original in
      !theirs[key].isEquivalent(to: original) && !theirs[key].isEquivalent(to: self[key])
    }
  }

  /// What it changes, in a record as somebody else has saved it.
  ///
  /// - Returns: Nil if nothing is left of that.
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
