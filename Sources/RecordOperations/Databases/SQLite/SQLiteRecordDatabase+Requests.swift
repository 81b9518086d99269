internal import SQLiteSupport

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteRecordDatabase {
  /// Returns the ID that the file was given when its changes were first tracked; `nil` if they are
  /// not tracked. A copy of the file has the same ID.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  public func identity() async throws -> String? {
    try await read { try $0.hasTrackingTables() ? $0.identity() : nil }
  }

  /// Saves and deletes records, in one transaction.
  ///
  /// - Parameter batch: At most as many records and bytes as ``limits`` allow.
  /// - Returns: One reply for each change, in the order of the batch.
  /// - Throws: A ``RecordError`` if the batch exceeds the limits, the file cannot be written, or
  ///   this task is in a transaction of the file; `CancellationError`.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try limits.check(batch)
    return try await write { try $0.apply(batch) }
  }

  /// Reads records by their names.
  ///
  /// - Parameters:
  ///   - ids: At most as many as ``limits`` allow for a batch.
  ///   - keys: The fields to read; nil for all.
  /// - Returns: The records that exist.
  /// - Throws: A ``RecordError`` if the limit is exceeded, a table has no column for a key, or the
  ///   file cannot be read; `CancellationError`.
  public func lookup(_ ids: [RecordID], keys: [String]?) async throws -> [RecordID: DatabaseRecord]
  {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    return try await read { try $0.lookup(ids, keys: keys) }
  }

  /// Returns a page of the records that match a query.
  ///
  /// A type without a table has no records if the access is ``SQLiteOptions/Access/create``. With
  /// any other access it is an error.
  ///
  /// - Throws: A ``RecordError`` if the query is invalid, the table has no column for a key, or the
  ///   file cannot be read; `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await read { [options] connection in
      try connection.page(
        of: query, after: cursor, atMost: count, requiringTable: options.access != .create)
    }
  }

  /// Returns a page of changes since a token.
  ///
  /// The changes of a table are tracked from its creation if it was created here. Any other table
  /// is tracked from the first save or deletion that is made here, or from ``keepChanges(of:)``.
  /// All of its records then count as changed. Dropping a table is not reported.
  ///
  /// - Throws: A ``RecordError`` if the token has expired, no table is tracked, the zone is not the
  ///   default one, or the file cannot be read; `CancellationError`.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    guard zone == .default else {
      throw RecordError(.unsupported("no zone \(zone.name): SQLite has only the default zone"))
    }
    return try await read { [limits] connection in
      try connection.changes(since: token, atMost: limits.page)
    }
  }

  /// Tracks the changes of tables from now on.
  ///
  /// Gives their records tags, as the first save or deletion made here would. Without types, it
  /// tracks only the tables that are created here later: a file of which no table is tracked
  /// reports no changes.
  ///
  /// - Throws: A ``RecordError`` if a table does not exist or cannot be written, or if this task is
  ///   in a transaction of the file; `CancellationError`.
  public func keepChanges(of types: [String]) async throws {
    try await write { connection in
      for type in types {
        guard try connection.table(type) != nil else {
          let names = try connection.tables().joined(separator: ", ")
          throw RecordError(
            .invalid("no such table: \(type) (tables: \(names.isEmpty ? "none" : names))"))
        }
        _ = try connection.trackedTable(type, creating: nil)
      }
      if types.isEmpty, try !connection.tables().isEmpty { try connection.createTrackingTables() }
    }
  }

  /// Returns whether there is a table or a view, perhaps one that cannot be mirrored.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  package func hasTable(_ name: String) async throws -> Bool {
    try await read { try $0.table(name) != nil }
  }

  /// Returns why each table cannot be mirrored: nil for each one that can.
  ///
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  package func mirrorProblems() async throws -> [String: String?] {
    try await read { connection in
      let tables = try connection.tables().compactMap { try connection.table($0) }
      return Dictionary(
        uniqueKeysWithValues: tables.filter { $0.kind != .view }.map { ($0.name, $0.mirrorProblem) }
      )
    }
  }

  /// Tracks the changes of a table from now on.
  ///
  /// - Returns: False if there is no such table yet.
  /// - Throws: As ``keepChanges(of:)``.
  func isTracking(_ type: String) async throws -> Bool {
    let isTracked = try await read { try $0.table(type)?.isTracked }
    if isTracked == false { try await keepChanges(of: [type]) }
    return isTracked != nil
  }

  /// Returns whether the file exists and can be read, or can be created if the access allows it.
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
    } catch let error as RecordError { return error.accountStatus }
  }

  /// Deletes the change entries of records that were deleted before a date, to free their space.
  ///
  /// The entries of deletions that a ``RecordMirror`` has not sent yet are kept.
  ///
  /// A change token from before the last of these deletions then expires: ``changes(since:in:)``
  /// throws ``RecordError/Reason/tokenExpired`` for it, and the caller has to fetch everything
  /// again.
  ///
  /// - Returns: The number of entries that were deleted.
  /// - Throws: A ``RecordError`` if the file cannot be written, or if this task is in a transaction
  ///   of it; `CancellationError`.
  @discardableResult
  public func forgetDeletions(before date: Date) async throws -> Int {
    try await write { try $0.forgetDeletions(before: date) }
  }
}

extension SQLiteTable {
  /// Why it cannot be mirrored; nil if it can.
  fileprivate var mirrorProblem: String? {
    if kind == .virtual {
      return "it is a virtual table, whose changes SQLite reports to no trigger"
    }
    return switch key {
    case .text, .integer, .values: nil
    case .rowID, .none: "it has no primary key that can be the name of a record"
    }
  }
}
