/// The resolution of conflicts.
extension MirrorStore {
  /// Resolves the conflicts of a merge by the policy.
  ///
  /// - Returns: False if the caller has to decide first.
  mutating func resolve(
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
