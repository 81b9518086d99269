internal import CompositeOperations

/// A set of changes to records that are saved together or not at all.
///
/// The context keeps the records that are set and deleted until ``save(merging:)``; until then the
/// database does not see them. ``record(_:)`` and ``records(_:limit:)`` return records with these
/// changes applied.
///
/// A ``RecordContainer`` creates contexts, and each run of a ``ContextOperation`` has its own.
/// When another context of the container saves a record, this context updates the fields that it
/// has not changed itself. If both have changed the same field, this context does not update the
/// record, and the policy of its next save applies.
public final class RecordContext: Sendable {
  let container: RecordContainer
  /// The context in which requests run.
  let operationContext: OperationContext
  /// Whether the other contexts receive what this one saves.
  private let isShared: Bool
  let state = Lock(StateMachine())
  /// Held during a save.
  private let saveMutex = AsyncMutex()
  private let listeners = Broadcast<ContextChanges>()

  /// The maximum number of rounds of one save, where each round merges with saves of other writers.
  ///
  /// In each round one of the writers succeeds, so many rounds are needed only if many write the
  /// same record at once.
  private static let maximumSaveRounds = 1_000

  init(
    in container: RecordContainer, operationContext: OperationContext = .init(),
    isShared: Bool = true
  ) {
    self.container = container
    self.operationContext = operationContext
    self.isShared = isShared
  }

  deinit { container.remove(ObjectIdentifier(self)) }

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
    let (pending, recreated) = state.withLock { $0.beginSaving() }
    if pending.isEmpty { return ContextChanges() }
    do {
      let saved = try await save(pending, recreated, merging: policy)
      state.withLock { $0.finishSaving(pending, as: saved) }
      if isShared, !saved.isEmpty { container.publish(saved, from: self) }
      return saved
    } catch {
      state.withLock { $0.failSaving() }
      throw error
    }
  }

  private func save(
    _ pending: [RecordChange], _ recreated: Set<RecordID>, merging policy: MergePolicy
  ) async throws -> ContextChanges {
    // The old fields of records that were deleted and created again.
    let old = try await lookup(Array(recreated))
    var changes = pending.map { recreated.contains($0.id) ? $0.replacing(old[$0.id]) : $0 }
    var saved = ContextChanges()
    var round = 1
    while !changes.isEmpty {
      var requests = ModifyRequests(
        of: changes, atomically: true, in: container.database, ignoringMissing: policy != .error,
        retries: container.retries)
      do {
        for (change, reply) in zip(changes, try await requests.perform(in: operationContext)) {
          switch reply {
          case .saved(let record): saved.saved.append(record)
          case .deleted: saved.deleted.append(change.id)
          case .failed: break
          }
        }
        break
      } catch let error as RecordBatchError
        where policy != .error && error.isConflict && round < Self.maximumSaveRounds
      {
        round += 1
        changes = try await merged(changes, recreated, by: policy)
      }
    }
    return saved
  }

  /// Returns the changes rebased on the current state of the database.
  private func merged(
    _ changes: [RecordChange], _ recreated: Set<RecordID>, by policy: MergePolicy
  ) async throws -> [RecordChange] {
    let found = try await lookup(changes.map(\.id))
    return changes.compactMap { change in
      let record = found[change.id]
      if change.tag == record?.tag { return change }
      let mine = recreated.contains(change.id) ? change.replacing(record) : change
      return mine.merged(with: record, by: policy)
    }
  }

  // MARK: Saves of other contexts

  /// A stream of the changes that other contexts of the container save from now on, with one
  /// element for each save. It finishes when this context is released.
  public var merges: AsyncStream<ContextChanges> { listeners.stream() }

  /// Applies the saves of another context.
  func merge(_ changes: ContextChanges) {
    state.withLock { $0.merge(changes.saved) }
    listeners.yield(changes)
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
