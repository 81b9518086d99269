internal import SQLiteSupport

extension SQLiteConnection {
  /// Returns the records with these names that exist.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError``.
  func lookup(_ ids: [RecordID], keys: [String]?) throws -> [RecordID: DatabaseRecord] {
    var found: [RecordID: DatabaseRecord] = [:]
    for id in ids where id.zone == .default {
      // A type without a table has no records.
      guard let table = try table(id.type), table.key != .none else { continue }
      if let record = try record(id.name, in: table, keys: keys) { found[id] = record }
    }
    return found
  }

  /// Returns the next page of a query.
  ///
  /// - Parameter access: Decides whether a type without a table has no records or is an error.
  /// - Throws: A ``SQLiteError``; a ``RecordError``.
  func page(
    of query: RecordQuery, after cursor: RecordCursor?, atMost count: Int,
    access: SQLiteOptions.Access
  ) throws -> RecordPage {
    if let reason = query.predicate?.impossibility { throw RecordError(.invalid(reason)) }
    guard count >= 1 else { throw RecordError(.invalid("a page must hold at least 1 record")) }
    if query.zone == .default, let table = try table(query.type) {
      return try page(of: query, in: table, after: cursor, atMost: count)
    }
    guard access == .create || query.zone != .default else {
      let names = try tables().joined(separator: ", ")
      throw RecordError(
        .invalid("no such table: \(query.type) (tables: \(names.isEmpty ? "none" : names))"))
    }
    return RecordPage([], cursor: nil)
  }

  /// Makes the changes of a batch. Must be called in a transaction.
  ///
  /// - Throws: A ``SQLiteError`` or a ``RecordError`` that concerns the whole request.
  func make(_ batch: RecordBatch) throws -> [RecordReply] {
    try keepStates(for: batch.changes)
    guard batch.isAtomic else { return try makeEach(batch.changes) }
    do { return try savepoint { try makeAll(batch.changes) } } catch let failure as AtomicFailure {
      return failure.replies
    }
  }

  /// Tracks the existing tables of the changes. This happens before the changes, so that rolling
  /// them back keeps it: the reply to a conflict needs the current tag of the record.
  private func keepStates(for changes: [RecordChange]) throws {
    for type in Set(changes.lazy.filter { $0.id.zone == .default }.map(\.id.type)) {
      // For other tables, the replies to their changes report the error.
      guard let table = try table(type), table.kind == .table, table.key != .none, !table.isTracked
      else { continue }
      _ = try trackedTable(type, making: nil)
    }
  }

  /// Makes each change separately.
  ///
  /// - Throws: A ``SQLiteError`` that concerns the whole request.
  private func makeEach(_ changes: [RecordChange]) throws -> [RecordReply] {
    try changes.map { change in
      do { return try savepoint { try make(change) } } catch {
        return .failed(try failure(error, of: change))
      }
    }
  }

  /// Makes all changes or none.
  ///
  /// - Throws: An ``AtomicFailure`` if a change fails; a ``SQLiteError`` that concerns the whole
  ///   request.
  private func makeAll(_ changes: [RecordChange]) throws -> [RecordReply] {
    try changes.enumerated().map { index, change in
      do { return try make(change) } catch {
        let failure = try failure(error, of: change)
        throw AtomicFailure(
          replies: changes.enumerated().map { other, change in
            .failed(other == index ? failure : RecordError(.batchFailed, of: change.id))
          })
      }
    }
  }

  /// Returns the error of a change.
  ///
  /// - Throws: The error itself if it concerns the whole request.
  private func failure(_ error: any Error, of change: RecordChange) throws -> RecordError {
    guard isInTransaction else { throw error }
    switch error {
    case var error as RecordError:
      error.record = change.id
      return error
    case let error as SQLiteError where error.isOfStatement:
      guard var translated = error.translated as? RecordError else { throw error }
      translated.record = change.id
      return translated
    default: throw error
    }
  }
}

/// The rollback of an atomic batch, with the reply to each change.
private struct AtomicFailure: Error {
  let replies: [RecordReply]
}

extension RecordLimits {
  /// Checks the size of a batch.
  ///
  /// - Throws: A ``RecordError`` if a batch exceeds the limits.
  func check(_ batch: RecordBatch) throws(RecordError) {
    let byteCount = batch.changes.reduce(0) { $0 + $1.byteCount }
    if batch.changes.count > items || byteCount > bytes { throw RecordError(.limitExceeded) }
  }
}
