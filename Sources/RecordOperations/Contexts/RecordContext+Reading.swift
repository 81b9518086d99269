internal import CompositeOperations

extension RecordContext {
  /// Returns a record with the changes of this context, or `nil` if it does not exist.
  ///
  /// - Parameter id: The ID of the record.
  /// - Throws: A ``RecordError`` if the database fails; `CancellationError`.
  public func record(_ id: RecordID) async throws -> DatabaseRecord? {
    switch state.withLock({ $0.pendingRecord(id) }) {
    case .record(let record)?: return record
    case .deleted?: return nil
    case nil: return try await lookup([id])[id]
    }
  }

  /// Returns records with the changes of this context.
  ///
  /// Changed records come after other records that are equal by the order of the query.
  ///
  /// - Parameters:
  ///   - query: The records to find. A changed record is returned with all of its local fields,
  ///     whatever the keys of the query.
  ///   - limit: The maximum number of records; `nil` for all.
  /// - Throws: A ``RecordQueryError`` if the query fails; a ``RecordError`` if changed records
  ///   cannot be completed from the database; `CancellationError`.
  /// - Precondition: `limit` is not negative.
  public func records(_ query: RecordQuery, limit: Int? = nil) async throws -> [DatabaseRecord] {
    let pending = state.withLock(\.pending).filter {
      $0.id.type == query.type && $0.id.zone == query.zone
    }
    var asked = query
    // Merging the changed records into the others needs the keys of the order.
    asked.keys = query.keys.map { $0 + query.order.map(\.key) }
    let found = try await operationContext.run(
      QueryRecords(
        asked, in: container.database,
        limit: limit.map { min($0, .max - pending.count) + pending.count },
        retries: container.retries))
    let changed = Set(pending.map(\.id))
    let mine = try await completed(pending, for: query)
      .filter { query.predicate?.matches($0) ?? true }
    return query.order.merging(mine, into: found.filter { !changed.contains($0.id) })
      .prefix(limit ?? .max).map { changed.contains($0.id) ? $0 : $0.with(query.keys) }
  }

  /// Returns the changed records, completed from the database if the query needs more fields than
  /// were read.
  private func completed(
    _ changes: [RecordChange], for query: RecordQuery
  ) async throws -> [DatabaseRecord] {
    let keys = (query.predicate?.keys ?? []).union(query.order.map(\.key)).union(query.keys ?? [])
    var records: [DatabaseRecord] = []
    var parts: [RecordID] = []
    for case .save(let record, let policy) in changes {
      records.append(record)
      let isPart = record.tag != nil && policy != .replace && !keys.allSatisfy(record.has)
      if isPart { parts.append(record.id) }
    }
    if parts.isEmpty { return records }
    let recreated = state.withLock { $0.recreated }
    let found = try await lookup(parts.filter { !recreated.contains($0) })
    return records.map { record in
      found[record.id].map { record.completed(by: $0) } ?? record
    }
  }

  /// Returns the records with these IDs that exist in the database.
  ///
  /// - Throws: A ``RecordError``; `CancellationError`.
  func lookup(_ ids: [RecordID]) async throws -> [RecordID: DatabaseRecord] {
    let database = container.database
    var found: [RecordID: DatabaseRecord] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(database.limits.items))
      rest = rest.dropFirst(part.count)
      let request = readRequest(
        "look up \(RecordBatch.size(part.count))", retries: container.retries
      ) { try await database.lookup(part, keys: nil) }
      found.merge(try await operationContext.run(request)) { $1 }
    }
    return found
  }
}

extension [RecordOrder] {
  /// Merges records into others that are in this order. Each comes after the records that are equal
  /// to it.
  fileprivate func merging(
    _ others: [DatabaseRecord], into records: [DatabaseRecord]
  ) -> [DatabaseRecord] {
    var result: [DatabaseRecord] = []
    result.reserveCapacity(records.count + others.count)
    var rest = records[...]
    for other in others.sorted(by: precedes) {
      let before = rest.prefix { !precedes(other, $0) }
      result += before
      rest = rest[before.endIndex...]
      result.append(other)
    }
    return result + rest
  }

  /// Whether a record comes before another one.
  private func precedes(_ one: DatabaseRecord, _ other: DatabaseRecord) -> Bool {
    for order in self {
      if one[order.key].precedes(other[order.key]) { return order.direction == .ascending }
      if other[order.key].precedes(one[order.key]) { return order.direction == .descending }
    }
    return false
  }
}
