internal import SQLiteSupport

extension SQLiteConnection {
  /// Applies the changes of a batch. Must be called in a transaction.
  ///
  /// - Throws: A ``SQLiteError`` or a ``RecordError`` that concerns the whole request.
  func apply(_ batch: RecordBatch) throws -> [RecordReply] {
    try trackTables(of: batch.changes)
    guard batch.isAtomic else {
      struct Deferred: Error {}
      do {
        return try savepoint {
          let replies = try applyEach(batch.changes)
          // The commit would fail, and with it the changes of all records.
          if hasDeferredViolations { throw Deferred() }
          return replies
        }
      } catch is Deferred { return try applyEach(batch.changes, enforcingDeferred: true) }
    }
    do { return try savepoint { try applyAll(batch) } } catch let failure as AtomicFailure {
      return failure.replies
    }
  }

  /// Tracks the existing tables of the changes. This happens before the changes, so that rolling
  /// them back keeps it: the reply to a conflict needs the current tag of the record.
  private func trackTables(of changes: [RecordChange]) throws {
    for type in Set(changes.lazy.filter { $0.id.zone == .default }.map(\.id.type)) {
      // For other tables, the replies to their changes report the error.
      guard let table = try table(type), table.kind == .table, table.key != .none, !table.isTracked
      else { continue }
      _ = try trackedTable(type, creating: nil)
    }
  }

  /// Applies each change, so that a failure has no effect on the others. Saves that take unique values from one
  /// another are applied together.
  ///
  /// - Parameter isEnforcing: Whether each change has to obey deferred foreign keys.
  /// - Throws: A ``SQLiteError`` that concerns the whole request.
  private func applyEach(
    _ changes: [RecordChange], enforcingDeferred isEnforcing: Bool = false
  ) throws -> [RecordReply] {
    func applyOne(_ change: RecordChange) throws -> RecordReply {
      let reply = try apply(change)
      if isEnforcing, hasDeferredViolations { throw RecordError(.referenceViolated(change.id)) }
      return reply
    }
    return try applyInOrder(changes) { change in try self.savepoint { try applyOne(change) } }
  }

  /// Applies all changes or none.
  ///
  /// - Throws: An ``AtomicFailure`` if a change fails; a ``SQLiteError`` that concerns the whole
  ///   request.
  private func applyAll(_ batch: RecordBatch) throws -> [RecordReply] {
    try applyInOrder(batch.changes, apply) { index, error in
      throw AtomicFailure(replies: batch.replies(failing: index, with: error))
    }
  }

  /// - Parameters:
  ///   - apply: Applies a change.
  ///   - fail: Called with the place and the error of each change that fails.
  private func applyInOrder(
    _ changes: [RecordChange], _ apply: @escaping (RecordChange) throws -> RecordReply,
    orFail fail: (Int, RecordError) throws -> Void = { _, _ in }
  ) throws -> [RecordReply] {
    var exchanged: [RecordID: Result<RecordReply, RecordError>] = [:]
    return try changes.enumerated().map { index, change in
      if exchanged[change.id] == nil {
        do { return try apply(change) } catch {
          if let holder = (error as? UniqueViolation)?.holder {
            let open = changes[index...].saves.filter { exchanged[$0.key] == nil }
            if open[holder.id] != nil {
              var exchange = SQLiteExchange(connection: self, changes: open, save: apply)
              exchanged.merge(try exchange.settle(change.id)) { $1 }
            }
          }
          if exchanged[change.id] == nil {
            exchanged[change.id] = .failure(try failure(error, of: change.id))
          }
        }
      }
      switch exchanged.removeValue(forKey: change.id) {
      case .success(let reply)?: return reply
      case .failure(let error)?:
        try fail(index, error)
        return .failed(error)
      case nil: preconditionFailure("the change must be settled")
      }
    }
  }

  /// Returns the error of a change to a record.
  ///
  /// - Throws: The error itself if it concerns the whole request.
  func failure(_ error: any Error, of id: RecordID) throws -> RecordError {
    guard isInTransaction else { throw error }
    switch error {
    case let violation as UniqueViolation: return try failure(violation.error, of: id)
    case var error as RecordError:
      error.record = id
      return error
    case let error as SQLiteError where error.isOfStatement:
      guard var translated = error.translated as? RecordError else { throw error }
      translated.record = id
      return translated
    default: throw error
    }
  }
}

/// The rollback of an atomic batch, with the reply to each change.
private struct AtomicFailure: Error {
  let replies: [RecordReply]
}
