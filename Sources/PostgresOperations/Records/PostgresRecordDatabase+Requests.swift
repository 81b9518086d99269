internal import CompositeOperations
public import RecordOperations

extension PostgresRecordDatabase {
  /// Returns whether the database can be reached with the address.
  ///
  /// - Throws: `CancellationError`.
  public func accountStatus() async throws -> AccountStatus {
    do {
      _ = try await read { try $0.identity() }
      return .available
    } catch let error as RecordError { return error.accountStatus }
  }

  /// Returns an ID that consists of the system identifier of the server, the database and the schema;
  /// `nil` if the schema does not exist.
  ///
  /// A server that was restored from a dump has another ID, and so has a schema that was dropped and
  /// created again. A copy of the files of a server has the same ID.
  ///
  /// - Throws: A ``RecordError`` if the request fails; `CancellationError`.
  public func identity() async throws -> String? { try await read { try $0.identity() } }

  /// Saves and deletes records, in one transaction.
  ///
  /// - Parameter batch: At most as many records and bytes as ``limits`` allow.
  /// - Returns: One reply for each change, in the order of the batch.
  /// - Throws: A ``RecordError`` if the batch exceeds the limits, or the request fails as a whole:
  ///   ``RecordError/Reason/unavailable(_:)`` if the connection was lost before the transaction was
  ///   committed, and ``RecordError/Reason/replyLost`` if it was lost during the commit;
  ///   `CancellationError` if the task was cancelled before.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try limits.check(batch)
    return try await write { try $0.apply(batch, creating: $1) }
  }

  /// Reads records by their names, with one request to the server.
  ///
  /// - Parameters:
  ///   - ids: At most as many as ``limits`` allow for a batch.
  ///   - keys: The fields to read; nil for all.
  /// - Returns: The records that exist.
  /// - Throws: A ``RecordError`` if the limit is exceeded, a table has no column for a key, or the
  ///   request fails; `CancellationError`.
  public func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]
  {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    return try await read { try $0.lookup(ids, keys: keys) }
  }

  /// Returns a page of the records that match a query. A type without a table has no records.
  ///
  /// The next page begins after the last record of this one, even if records were inserted or
  /// deleted in between.
  ///
  /// - Throws: A ``RecordError`` if the query is invalid, the table has no column for a key, or the
  ///   request fails; `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await read { try $0.page(of: query, after: cursor, atMost: count) }
  }

  /// Returns a page of changes since a token.
  ///
  /// The changes of a table are tracked from its creation if it was created here. Any other table
  /// is tracked from the first save or deletion that is made here, or from ``keepChanges(of:)``.
  /// All of its records then count as changed. Dropping a table is not reported.
  ///
  /// A change is reported when all transactions of the server that began before its own have ended.
  /// So an open transaction delays the changes, and none is missed.
  ///
  /// - Throws: A ``RecordError`` if the token has expired, no table is tracked, the zone is not the
  ///   default one, or the request fails; `CancellationError`.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    guard zone == .default else {
      throw RecordError(.unsupported("no zone \(zone.name): PostgreSQL has only the default zone"))
    }
    return try await read { [limits] in try $0.changes(since: token, atMost: limits.page) }
  }

  /// Tracks the changes of tables from now on.
  ///
  /// Gives their records tags, as the first save or deletion made here would. Without types, it
  /// tracks only the tables that are created here later: a schema of which no table is tracked
  /// reports no changes.
  ///
  /// - Throws: A `RecordError` if a table does not exist or cannot be tracked, or if the request
  ///   fails; `CancellationError` if the task was cancelled before.
  public func keepChanges(of types: [String]) async throws {
    try await write { session, _ in try session.track(types) }
  }
}
