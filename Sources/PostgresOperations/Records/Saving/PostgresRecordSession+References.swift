internal import RecordOperations

extension PostgresRecordSession {
  /// Returns the error of a refused change, after it was rolled back.
  ///
  /// - Throws: A ``PostgresError``; ``OutdatedSchema``.
  func failure(
    _ error: PostgresError, of change: RecordChange, _ plan: PostgresSavePlan
  ) throws -> RecordError {
    var failure = error.translated(isAfterCommit: false)
    if error.isForeignKeyViolation {
      let violation =
        switch change {
        case .save(let record, let policy): try violation(bySaving: record, policy)
        case .delete(let id, _): try violation(byDeleting: id)
        }
      failure = violation ?? RecordError(.referenceViolated(change.id))
    }
    failure.record = change.id
    return failure
  }

  /// Returns an error with the reference whose record does not exist.
  private func violation(
    bySaving record: DatabaseRecord, _ policy: SavePolicy
  ) throws -> RecordError? {
    let ids = record.fields(by: policy).values.compactMap { value -> RecordID? in
      guard case .reference(let reference) = value, reference.onDelete != .keep,
        reference.id != record.id
      else { return nil }
      return reference.id
    }
    let found = try lookup(ids, keys: [])
    return ids.first { found[$0] == nil }.map { RecordError(.referenceViolated($0)) }
  }

  /// Returns an error with the record that prevents a deletion.
  private func violation(byDeleting id: RecordID) throws -> RecordError? {
    var children: [TypeName: [PostgresTable]] = [:]
    return try RecordError.violation(byDeleting: id) { next in
      let type = TypeName(next.type)
      if children[type] == nil {
        let names = try connection.rows(
          PostgresSchemaStatements.children, [.text(schema.name), .texts([next.type])])
        let types = (0..<names.count).compactMap { names.text($0, 0).map { TypeName($0) } }
        children[type] = types.isEmpty ? [] : try load(types).values.compactMap(\.self)
      }
      return try (children[type] ?? []).flatMap { child in
        try child.columns.flatMap { try references(from: child, at: $0, to: next) }
      }
    }
  }

  /// Returns the records whose foreign key in a column refers to a record, with its rule.
  private func references(
    from table: PostgresTable, at column: PostgresColumn, to id: RecordID
  ) throws -> [(from: RecordID, rule: RecordReference.DeleteRule)] {
    guard case .foreignKey(id.type, let rule, _) = column.kind, rule != .nullify else { return [] }
    let rows = try connection.rows(
      PostgresStatement(
        "find references from \(table.name)",
        """
        SELECT \(table.key.name(of: "t")) FROM \(table.quoted) AS t \
        WHERE t.\(column.quoted) = $1::\(column.castType)
        """), [.text(column.encoded(id.name))])
    return (0..<rows.count).map { row in
      (RecordID(table.name, table.key.decoded(rows.text(row, 0) ?? "")), rule)
    }
  }
}
