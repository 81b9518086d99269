internal import SQLiteSupport

/// Deletions of records that the remote database does not have any more.
extension MirrorStore {
  /// Deletes the records that are marked as missing, unless an edit wins. Must be called after all
  /// remote states are known: a record may refer to another one than before.
  mutating func deleteMissing() throws {
    let start = try tables.lastSequence()
    var missing = try referringFirst(tables.pending(.missing, types: mirrored.sorted()))
    var errors: [RecordID: RecordError] = [:]
    while !missing.isEmpty {
      let count = missing.count
      errors = [:]
      missing = try missing.filter { id in
        do {
          return try savepoint { store in
            let isDone = try store.deleteMissing(id, after: start)
            if store.connection.hasDeferredViolations { throw try store.violation(by: id) }
            return !isDone
          }
        } catch {
          errors[id] = try connection.failure(error, of: id)
          return true
        }
      }
      if missing.count == count { break }
    }
    // The others are prevented, or refer to each other.
    let cycle = missing.filter { errors[$0] == nil }
    if let first = cycle.first {
      _ = try withDeferredReferences(of: first) { store in
        for id in cycle { _ = try store.deleteMissing(id, after: start, ignoringMissing: true) }
      }
    }
    for error in errors.values { try reject(error) }
  }

  /// Deletes the local records of the mirrored types, for the records of another remote database. Unsent edits are lost values.
  ///
  /// - Throws: A ``RecordError`` if a record that is not mirrored refers to one of them.
  mutating func deleteLocalRecords() throws {
    var names: [RecordID] = []
    for type in mirrored.sorted() where try connection.table(type) != nil {
      names += try connection.fetchAll(
        "SELECT name FROM \"_record_states\" WHERE type = ?1 AND deleted = 0", [.text(type)]
      ) { RecordID(type, $0.text(at: 0) ?? "") }
    }
    for id in names {
      guard let local = try local(id) else { continue }
      let base = try tables.base(of: id)
      if local.sequence == base?.sequence { continue }
      for key in local.keys where !local[key].isSame(as: base?.fields[key] ?? .null) {
        try lose(key, of: id, local[key], from: .local)
      }
    }
    for (id, _) in try tables.unsent(after: 0, atMost: .max, types: Array(mirrored))
    where try tables.state(of: id)?.isDeleted == true {
      try lose(nil, of: id, from: .local)
    }
    guard let first = names.first else { return }
    try checkOtherReferences()
    var refusal: RecordError?
    let isDone = try withDeferredReferences(of: first) { store in
      for id in names {
        do { _ = try store.connection.apply(.delete(id, ifTagged: nil)) } catch {
          let failure = try store.connection.failure(error, of: id)
          // Deleted with a record that it referred to.
          if case .unknownRecord = failure.reason { continue }
          refusal = failure
          throw failure
        }
        store.report(.deleted(id))
      }
    }
    if isDone { return }
    throw refusal
      ?? RecordError(
        .invalid("a record that is not mirrored refers to one of the records to delete"))
  }

  /// Checks that no record of another type refers to a mirrored one: its deletion could delete or change that record.
  private func checkOtherReferences() throws {
    for table in try connection.tables().compactMap({ try connection.table($0) })
    where !mirrored.contains(table.name) {
      for column in table.columns {
        guard case .foreignKey(let type, _) = column.meaning, mirrored.contains(type) else {
          continue
        }
        let isUsed = try connection.fetchOne(
          "SELECT 1 FROM \(table.sql.table) WHERE \(column.quoted) IS NOT NULL LIMIT 1"
        ) { _ in true }
        if isUsed == true {
          throw RecordError(
            .invalid(
              """
              the local records cannot be replaced: records of \(table.name), which is not mirrored, refer to \(type) \
              (\(column.name)); mirror it, too, or remove these references
              """))
        }
      }
    }
  }

  /// Returns records in an order in which each precedes those that it refers to, where possible.
  private func referringFirst(_ ids: [RecordID]) throws -> [RecordID] {
    let hasForeignKeys = try mirrored.contains { type in
      try connection.table(type).map { !$0.foreignKeys.isEmpty } ?? false
    }
    guard hasForeignKeys else { return ids }
    let records = try ids.map { try local($0) ?? DatabaseRecord($0) }
    return records.orderedByReferences.reversed().map(\.id)
  }

  private func violation(by id: RecordID) throws -> RecordError {
    let table = try connection.table(id.type)
    let error = try table.flatMap { try connection.violation(byDeleting: id.name, of: $0) }
    return error ?? RecordError(.referenceViolated(id))
  }

  /// - Parameters:
  ///   - start: The last local tag before the deletions.
  ///   - ignoresMissing: Whether the records that refer to it are deleted together with it.
  /// - Returns: False if a record that refers to it is missing as well, and has to be deleted first.
  private mutating func deleteMissing(
    _ id: RecordID, after start: Int64, ignoringMissing ignoresMissing: Bool = false
  ) throws -> Bool {
    guard let base = try tables.base(of: id) else { return true }
    guard let local = try local(id) else {
      // Deleted with a record that it referred to, or by an edit before.
      if let state = try tables.state(of: id), state.sequence > start { report(.deleted(id)) }
      try tables.removeBase(of: id)
      return true
    }
    // Also a record that was deleted and created again is edited.
    let isEdited = local.sequence != base.sequence
    if isEdited, deletions == .lose {
      try keep(id)
      return true
    }
    switch try unsentReferrer(to: id) {
    case .missing where !ignoresMissing: return false
    case .staying:
      try keep(id)
      return true
    case .missing, nil: break
    }
    if isEdited {
      for key in local.keys where !local[key].isSame(as: base.fields[key] ?? .null) {
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
    if base.rejection == error.reason.description { return }
    report(.rejected(error))
    base.rejection = error.reason.description
    try tables.save(base, of: id)
  }
}
