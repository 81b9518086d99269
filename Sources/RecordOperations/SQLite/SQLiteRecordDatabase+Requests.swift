extension SQLiteRecordDatabase {
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try limits.check(batch)
    return try await write { try $0.make(batch) }
  }

  public func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]
  {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    return try await read { try $0.lookup(ids, keys: keys) }
  }

  /// Finds records.
  ///
  /// A type that has no table has no records, if the database is one that makes tables. In a file that has to be there
  /// it is an error.
  ///
  /// - Throws: A ``RecordError`` if the table has no column for a key, or cannot be read; `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await read { [options] connection in
      try connection.page(of: query, after: cursor, atMost: count, access: options.access)
    }
  }

  /// Tells what has changed: of the tables that were made here, and of those whose changes are kept since the first
  /// that was made here, or since ``keepChanges(of:)``. Adopted tables are told of as a whole then.
  ///
  /// It does not tell of a table that was dropped.
  ///
  /// - Throws: A ``RecordError`` if the changes since then are not known any more, or if no table has its changes kept;
  ///   `CancellationError`.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    guard zone == .default else {
      throw RecordError(.unsupported("no zone \(zone.name): SQLite has only the default zone"))
    }
    return try await read { [limits] connection in
      try connection.changes(since: token, atMost: limits.page)
    }
  }

  /// Has the changes of tables kept from now on, and gives their records tags, as the first change would.
  ///
  /// - Throws: A ``RecordError`` if there is no such table, or if it cannot be written; `CancellationError`.
  public func keepChanges(of types: [String]) async throws {
    try await write { connection in
      for type in types {
        guard try connection.table(type) != nil else {
          let names = try connection.tables().joined(separator: ", ")
          throw RecordError(
            .invalid("no such table: \(type) (tables: \(names.isEmpty ? "none" : names))"))
        }
        _ = try connection.trackedTable(type, making: nil)
      }
    }
  }

  /// Whether the file is there and can be read, or can be made if that is asked for.
  ///
  /// - Throws: `CancellationError`.
  public func accountStatus() async throws -> AccountStatus {
    let file = SQLiteFile(path)
    if case .missing = file.kind {
      guard options.access == .create else { return .noAccount }
      return file.hasWritableFolder ? .available : .restricted
    }
    do {
      _ = try await read { try $0.tables() }
      return .available
    } catch let error as RecordError {
      switch error.reason {
      case .unavailable: return .temporarilyUnavailable
      case .notPermitted: return .restricted
      case .conflict, .unknownRecord, .limitExceeded, .referenceViolated, .batchFailed, .invalid,
        .unsupported, .replyLost, .tokenExpired, .storage, .other:
        return .couldNotDetermine
      }
    }
  }
}
