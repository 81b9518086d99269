extension SQLiteConnection {
  /// The records of these names that are there.
  ///
  /// - Throws: A ``SQLiteError``; a ``RecordError``.
  func lookup(_ ids: [RecordID], keys: [String]?) throws -> [RecordID: DatabaseRecord] {
    var found: [RecordID: DatabaseRecord] = [:]
    for id in ids where id.zone == .default {
      // Of a type without a table, none is there.
      guard let table = try table(id.type), table.key != .none else { continue }
      if let record = try record(id.name, in: table, keys: keys) { found[id] = record }
    }
    return found
  }

  /// The next page of a query.
  ///
  /// - Parameter access: Whether a type without a table has no records, or is an error.
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

  /// Makes the changes of a batch. It is called within a transaction.
  ///
  /// - Throws: A ``SQLiteError`` or a ``RecordError`` if it is not about one of them.
  func make(_ batch: RecordBatch) throws -> [RecordReply] {
    try keepStates(for: batch.changes)
    guard batch.isAtomic else { return try makeEach(batch.changes) }
    do { return try savepoint { try makeAll(batch.changes) } } catch let failure as AtomicFailure {
      return failure.replies
    }
  }

  /// Has the states kept of tables that are there: before the changes, so that they stay where those are undone. Who is
  /// told of a conflict needs the tag that the record has then.
  private func keepStates(for changes: [RecordChange]) throws {
    for type in Set(changes.lazy.filter { $0.id.zone == .default }.map(\.id.type)) {
      // What is wrong with any other one, its changes are told.
      guard let table = try table(type), table.kind == .table, table.key != .none, !table.isTracked
      else { continue }
      _ = try trackedTable(type, making: nil)
    }
  }

  /// Makes changes, each by itself.
  ///
  /// - Throws: A ``SQLiteError`` if it is not about one of them.
  private func makeEach(_ changes: [RecordChange]) throws -> [RecordReply] {
    try changes.map { change in
      do { return try savepoint { try make(change) } } catch {
        return .failed(try failure(error, of: change))
      }
    }
  }

  /// Makes all changes.
  ///
  /// - Throws: An ``AtomicFailure`` if one of them cannot be made, so that none is; a ``SQLiteError`` if it is not about
  ///   one of them.
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

  /// - Throws: The error if the whole request has failed.
  private func failure(_ error: any Error, of change: RecordChange) throws -> RecordError {
    guard isInTransaction else { throw error }
    switch error {
    case var error as RecordError:
      error.record = change.id
      return error
    case let error as SQLiteError where !error.endsRequest:
      guard var translated = error.translated as? RecordError else { throw error }
      translated.record = change.id
      return translated
    default: throw error
    }
  }
}

/// An atomic batch that is undone, and what each of its changes is told.
private struct AtomicFailure: Error {
  let replies: [RecordReply]
}

extension RecordLimits {
  /// - Throws: A ``RecordError`` if a batch is more than they allow.
  func check(_ batch: RecordBatch) throws(RecordError) {
    let byteCount = batch.changes.reduce(0) { $0 + $1.byteCount }
    if batch.changes.count > items || byteCount > bytes { throw RecordError(.limitExceeded) }
  }
}
