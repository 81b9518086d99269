internal import CompositeOperations

/// A set of changes to records that are saved together or not at all.
///
/// The context keeps the records that are set and deleted until ``save(merging:)``; until then the
/// database does not see them. ``record(_:)`` and ``records(_:limit:)`` return records with these
/// changes applied.
///
/// A ``RecordContainer`` creates contexts, and each run of a ``ContextOperation`` has its own.
/// Saves of other contexts are applied beneath the unsaved changes: fields that are changed here
/// keep their local values, and the other fields are updated. If both have changed the same field,
/// the record stays as it is, and the policy of the next save decides.
public final class RecordContext: Sendable {
  private let container: RecordContainer
  /// The context in which requests run.
  private let operation: OperationContext
  /// Whether the other contexts receive what this one saves.
  private let isShared: Bool
  private let state = Lock(StateMachine())
  /// Held during a save.
  private let saveMutex = AsyncMutex()
  private let listeners = Lock<[Int: AsyncStream<ContextChanges>.Continuation]>([:])

  /// The maximum number of rounds of one save, where each round merges with saves of other writers.
  ///
  /// In each round one of the writers succeeds, so many rounds are needed only if many write the
  /// same record at once.
  private static let patience = 1_000

  init(in container: RecordContainer, operation: OperationContext = .init(), isShared: Bool = true)
  {
    self.container = container
    self.operation = operation
    self.isShared = isShared
  }

  deinit {
    container.remove(ObjectIdentifier(self))
    for listener in listeners.withLock(\.self).values { listener.finish() }
  }

  // MARK: Changing

  /// Whether there are unsaved changes.
  public var hasChanges: Bool { !state.withLock { $0.isEmpty } }

  /// Adds a record to the changes, to be saved by the next ``save(merging:)``.
  ///
  /// A record without a tag is a new record and must not exist yet.
  ///
  /// - Parameter record: The record to save.
  public func set(_ record: DatabaseRecord) { state.withLock { $0.set(record) } }

  /// Deletes a record with the next ``save(merging:)``, unless another writer saves it before that.
  ///
  /// A record that was read without a tag counts as saved by another writer.
  ///
  /// - Parameter record: The record to delete, as it was read.
  public func delete(_ record: DatabaseRecord) {
    state.withLock { $0.delete(record.id, ifTagged: record.tag ?? .unknown) }
  }

  /// Deletes a record with the next ``save(merging:)``, even if another writer has saved it.
  ///
  /// - Parameter id: The ID of the record to delete.
  public func delete(_ id: RecordID) { state.withLock { $0.delete(id, ifTagged: nil) } }

  /// Discards all unsaved changes.
  public func reset() { state.withLock { $0.reset() } }

  // MARK: Reading

  /// Returns a record with the changes of this context, or `nil` if it does not exist.
  ///
  /// - Parameter id: The ID of the record.
  /// - Throws: A ``RecordError`` if the database fails; `CancellationError`.
  public func record(_ id: RecordID) async throws -> DatabaseRecord? {
    switch state.withLock({ $0.known(id) }) {
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
    let found = try await operation.run(
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
    let remade = state.withLock { $0.remade }
    let found = try await lookup(parts.filter { !remade.contains($0) })
    return records.map { record in
      found[record.id].map { record.completed(by: $0) } ?? record
    }
  }

  // MARK: Saving

  /// Saves all changes or none of them.
  ///
  /// - Parameter policy: How to merge the changes with changes that others have saved since the
  ///   records were read.
  /// - Returns: The changes that were saved, with new tags and merged with the saves of others.
  /// - Throws: A ``RecordBatchError`` if changes could not be saved; the context keeps them. A
  ///   ``RecordError`` if the database does not support atomic batches, the changes exceed its
  ///   limits, or records cannot be looked up; `CancellationError`.
  @discardableResult
  public func save(merging policy: MergePolicy = .error) async throws -> ContextChanges {
    try await saveMutex.acquire()
    defer { saveMutex.release() }
    let (pending, remade) = state.withLock { $0.beginSaving() }
    if pending.isEmpty { return ContextChanges() }
    do {
      let saved = try await save(pending, remade, merging: policy)
      state.withLock { $0.finishSaving(pending, as: saved) }
      if isShared, !saved.isEmpty { container.publish(saved, from: self) }
      return saved
    } catch {
      state.withLock { $0.failSaving() }
      throw error
    }
  }

  private func save(
    _ pending: [RecordChange], _ remade: Set<RecordID>, merging policy: MergePolicy
  ) async throws -> ContextChanges {
    // The old fields of records that were deleted and created again.
    let old = try await lookup(Array(remade))
    var changes = pending.map { remade.contains($0.id) ? $0.replacing(old[$0.id]) : $0 }
    var saved = ContextChanges()
    var round = 1
    while !changes.isEmpty {
      var requests = ModifyRequests(
        of: changes, atomically: true, in: container.database, ignoringMissing: policy != .error,
        retries: container.retries)
      do {
        for (change, reply) in zip(changes, try await requests.perform(in: operation)) {
          switch reply {
          case .saved(let record): saved.saved.append(record)
          case .deleted: saved.deleted.append(change.id)
          case .failed: break
          }
        }
        break
      } catch let error as RecordBatchError
        where policy != .error && error.isConflict && round < Self.patience
      {
        round += 1
        changes = try await merged(changes, remade, by: policy)
      }
    }
    return saved
  }

  /// Returns the changes rebased on the current state of the database.
  private func merged(
    _ changes: [RecordChange], _ remade: Set<RecordID>, by policy: MergePolicy
  ) async throws -> [RecordChange] {
    let found = try await lookup(changes.map(\.id))
    return changes.compactMap { change in
      let record = found[change.id]
      if change.tag == record?.tag { return change }
      let mine = remade.contains(change.id) ? change.replacing(record) : change
      return mine.merged(with: record, by: policy)
    }
  }

  private func lookup(_ ids: [RecordID]) async throws -> [RecordID: DatabaseRecord] {
    let database = container.database
    var found: [RecordID: DatabaseRecord] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(database.limits.items))
      rest = rest.dropFirst(part.count)
      let request = ReadRequest(
        operationName: "look up \(RecordBatch.size(part.count))", retries: container.retries
      ) { try await database.lookup(part, keys: nil) }
      found.merge(try await operation.run(request)) { $1 }
    }
    return found
  }

  // MARK: Saves of other contexts

  /// The saves of other contexts from now on. The stream finishes when this context is released.
  public var merges: AsyncStream<ContextChanges> {
    let (stream, continuation) = AsyncStream.makeStream(of: ContextChanges.self)
    let number = listeners.withLock { listeners in
      let number = (listeners.keys.max() ?? 0) + 1
      listeners[number] = continuation
      return number
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
    }
    return stream
  }

  /// Applies the saves of another context.
  func merge(_ changes: ContextChanges) {
    state.withLock { $0.merge(changes.saved) }
    for listener in listeners.withLock(\.self).values { listener.yield(changes) }
  }
}

extension RecordChange {
  fileprivate var tag: RecordTag? {
    switch self {
    case .save(let record, _): record.tag
    case .delete(_, let tag): tag
    }
  }
}

extension RecordBatchError {
  /// Whether another writer has changed or deleted one of the records.
  fileprivate var isConflict: Bool {
    failures.contains { failure in
      switch failure.reason {
      case .conflict, .unknownRecord: true
      default: false
      }
    }
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
