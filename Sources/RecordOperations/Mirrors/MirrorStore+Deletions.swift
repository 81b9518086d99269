internal import SQLiteSupport

/// Deletions of records that the remote database does not have any more.
extension MirrorStore {
  /// Deletes the records that are marked as missing, unless an edit wins. Must be called after all
  /// remote states are known: a record may refer to another one than before.
  mutating func deleteMissing(_ types: [String]) throws {
    var missing = try tables.pending(.missing, types: types)
    while true {
      let count = missing.count
      var failures: [RecordError] = []
      missing = try missing.filter { id in
        do {
          return try savepoint { store in try !store.deleteMissing(id) }
        } catch {
          failures.append(try connection.failure(error, of: id))
          return true
        }
      }
      if missing.isEmpty { return }
      if missing.count == count {
        for failure in failures { try reject(failure) }
        return
      }
    }
  }

  /// - Returns: False if a record that refers to it is missing as well, and has to be deleted first.
  private mutating func deleteMissing(_ id: RecordID) throws -> Bool {
    guard let base = try tables.base(of: id) else { return true }
    guard let local = try local(id) else {
      try tables.removeBase(of: id)
      return true
    }
    let edited = local.keys.filter { !local[$0].isSame(as: base.fields[$0] ?? .null) }
    let isEdited = local.sequence != base.sequence && !edited.isEmpty
    if isEdited, deletions == .lose {
      try keep(id)
      return true
    }
    switch try unsentReferrer(to: id) {
    case .missing: return false
    case .staying:
      try keep(id)
      return true
    case nil: break
    }
    if isEdited {
      for key in edited {
        try lose(key, of: id, local[key], from: .local)
      }
    }
    _ = try connection.apply(.delete(id, ifTagged: nil))
    report(.deleted(id))
    try tables.removeBase(of: id)
    return true
  }

  /// Keeps a record that is missing in the remote database, and sends it as a new one.
  private mutating func keep(_ id: RecordID) throws {
    try lose(nil, of: id, from: .remote)
    try tables.save(MirrorBase(sequence: MirrorBase.noSequence, pending: .unsent), of: id)
  }

  private enum Referrer { case missing, staying }

  /// Returns an unsent record with a foreign key to a record; nil if there is none.
  private func unsentReferrer(to id: RecordID) throws -> Referrer? {
    var found: Referrer?
    for table in try connection.tables().compactMap({ try connection.table($0) }) {
      for column in table.columns {
        guard case .foreignKey(id.type, _) = column.meaning else { continue }
        for other in try connection.rows(of: table, at: column, referencing: id.name)
        where other != id {
          guard mirrored.contains(other.type), let state = try tables.state(of: other) else {
            continue
          }
          let base = try tables.base(of: other)
          guard state.sequence != base?.sequence else { continue }
          if base?.pending.contains(.missing) != true { return .staying }
          found = .missing
        }
      }
    }
    return found
  }

  /// Reports that a record cannot be deleted locally, once.
  private mutating func reject(_ error: RecordError) throws {
    guard let id = error.record, var base = try tables.base(of: id) else { return }
    if base.rejection != error.reason.description { report(.rejected(error)) }
    base.rejection = error.reason.description
    try tables.save(base, of: id)
  }
}
