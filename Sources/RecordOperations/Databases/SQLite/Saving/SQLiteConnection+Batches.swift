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

  /// Applies each change separately.
  ///
  /// - Parameter isEnforcing: Whether each change has to obey deferred foreign keys.
  /// - Throws: A ``SQLiteError`` that concerns the whole request.
  private func applyEach(
    _ changes: [RecordChange], enforcingDeferred isEnforcing: Bool = false
  ) throws -> [RecordReply] {
    try changes.map { change in
      do {
        return try savepoint {
          let reply = try apply(change)
          if isEnforcing, hasDeferredViolations {
            throw RecordError(.referenceViolated(change.id))
          }
          return reply
        }
      } catch {
        return .failed(try failure(error, of: change.id))
      }
    }
  }

  /// Applies all changes or none.
  ///
  /// - Throws: An ``AtomicFailure`` if a change fails; a ``SQLiteError`` that concerns the whole
  ///   request.
  private func applyAll(_ batch: RecordBatch) throws -> [RecordReply] {
    try batch.changes.enumerated().map { index, change in
      do { return try apply(change) } catch {
        throw AtomicFailure(
          replies: batch.replies(failing: index, with: try failure(error, of: change.id)))
      }
    }
  }

  /// Returns the error of a change to a record.
  ///
  /// - Throws: The error itself if it concerns the whole request.
  func failure(_ error: any Error, of id: RecordID) throws -> RecordError {
    guard isInTransaction else { throw error }
    switch error {
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
