internal import CompositeOperations

/// Changes of records that are worked on together, and saved together or not at all.
///
/// What is set and deleted is kept here until ``save(merging:)``, and ``record(_:)`` and ``records(_:limit:)`` show the
/// records as if that had been done. The database knows nothing of it before.
///
/// A ``RecordContainer`` makes contexts, and a ``ContextOperation`` has one of its own. What the other contexts save comes
/// under the changes that are kept here: a field that is changed here stays as it is here, and the others become as they
/// are there. A record of which they have changed the same field is left as it is, and the policy of the next save decides.
public final class RecordContext: Sendable {
  private let container: RecordContainer
  /// Where its requests are run.
  private let operation: OperationContext
  /// Whether the others are told what this one saves.
  private let isShared: Bool
  private let state = Lock(StateMachine())
  /// Held by a save.
  private let turn = RecordTurn()
  private let listeners = Lock<[Int: AsyncStream<ContextChanges>.Continuation]>([:])

  /// So often others may save the same records while this one merges with them. Each time one of them comes through, so
  /// many are needed only where many write the same record at once.
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

  /// Whether there is anything to be saved.
  public var hasChanges: Bool { !state.withLock { $0.isEmpty } }

  /// Has a record saved as it is here, with the next ``save(merging:)``.
  ///
  /// One that has no tag is a new one, and must not be there yet.
  public func set(_ record: DatabaseRecord) { state.withLock { $0.set(record) } }

  /// Has a record deleted, if nobody else saves it before that. One that was read without a tag counts as saved by
  /// somebody else.
  public func delete(_ record: DatabaseRecord) {
    state.withLock { $0.delete(record.id, ifTagged: record.tag ?? .unknown) }
  }

  /// Has a record deleted, whoever has saved it.
  public func delete(_ id: RecordID) { state.withLock { $0.delete(id, ifTagged: nil) } }

  /// Gives up all changes that are not saved.
  public func reset() { state.withLock { $0.reset() } }

  // MARK: Reading

  /// A record, as it is here; nil if there is none.
  ///
  /// - Throws: A ``RecordError``; `CancellationError`.
  public func record(_ id: RecordID) async throws -> DatabaseRecord? {
    switch state.withLock({ $0.known(id) }) {
    case .record(let record)?: return record
    case .deleted?: return nil
    case nil: return try await lookup([id])[id]
    }
  }

  /// Records, as they are here. Those that are changed here stand behind others that are equal by the order.
  ///
  /// - Parameters:
  ///   - query: Which. Of a record that is changed here all comes that is here, whatever its keys are.
  ///   - limit: How many are wanted at most; nil for all.
  /// - Throws: A ``RecordQueryError``; `CancellationError`.
  public func records(_ query: RecordQuery, limit: Int? = nil) async throws -> [DatabaseRecord] {
    let pending = state.withLock(\.pending).filter {
      $0.id.type == query.type && $0.id.zone == query.zone
    }
    var asked = query
    // To find the places of the others among them.
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

  /// The records of changes, with what is in the database where the query needs more than was read of them.
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

  /// Saves all changes, or none of them.
  ///
  /// - Parameter policy: What becomes of changes of records that somebody else has saved since they were read.
  /// - Returns: What was saved: with new tags, and merged with what others have saved.
  /// - Throws: A ``RecordBatchError`` if not all changes could be saved: they are still here then. A ``RecordError`` if
  ///   the database cannot save all or none; `CancellationError`.
  @discardableResult
  public func save(merging policy: MergePolicy = .error) async throws -> ContextChanges {
    try await turn.take()
    defer { turn.giveBack() }
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
    // What the records had that were deleted and made again.
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

  /// Changes as they can be made beside what is there now.
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

  // MARK: What others save

  /// What the other contexts save from now on, as long as this one is kept.
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

  /// Takes what another context has saved.
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
  /// Whether somebody else has changed one of the records.
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
  /// Records that are in this order, with others among them, each behind those that are equal to it.
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
