package import SQLiteSupport

/// Reads and writes records in a transaction, without suspending.
///
/// A `CommittedStep` of `DurableRecords` passes one to its closure, which saves records in the
/// transaction that also stores the step:
///
/// ```swift
/// import DurableRecords
/// import RecordOperations
///
/// let library = SQLiteRecordDatabase("library.sqlite")
/// let book = RecordID("Book", "9780141439600")
/// let lend = CommittedStep(in: library) { records in
///   guard var found = try records.record(book) else { return false }
///   found["lent"] = true
///   try records.save([found])
///   return true
/// }
/// ```
///
/// Each call is one request. It sees the changes of the calls before, and a call that throws
/// changes nothing. If the closure catches the error, the other changes of the transaction remain.
/// After an error that concerns the whole file, such as a full disk, and after a cancellation, every
/// call throws, and the transaction is rolled back.
// A class, because it remembers the error of the file. Not sendable: it belongs to the thread of the
// connection until the closure returns.
public final class RecordWriter {
  private let connection: SQLiteConnection
  private let requiresTable: Bool
  private let isCancelled: () -> Bool
  /// The error because of which the transaction cannot be committed.
  private var failure: SQLiteError?

  private init(
    _ connection: SQLiteConnection, _ options: SQLiteOptions, isCancelled: @escaping () -> Bool
  ) {
    self.connection = connection
    requiresTable = options.access != .create
    self.isCancelled = isCancelled
  }

  // MARK: Reading

  /// Returns a record, or `nil` if it does not exist.
  ///
  /// - Parameter id: The ID of the record.
  /// - Throws: A ``RecordError`` if the file cannot be read; `CancellationError`.
  public func record(_ id: RecordID) throws -> DatabaseRecord? {
    try request { try $0.lookup([id], keys: nil)[id] }
  }

  /// Returns the records that match a query.
  ///
  /// - Parameters:
  ///   - query: The records to find.
  ///   - limit: The maximum number of records; `nil` for all.
  /// - Throws: A ``RecordError`` if the query is invalid, or the file cannot be read;
  ///   `CancellationError`.
  /// - Precondition: `limit` is not negative.
  public func records(_ query: RecordQuery, limit: Int? = nil) throws -> [DatabaseRecord] {
    precondition(limit ?? 0 >= 0, "`limit` must be at least 0 (was \(limit ?? 0))")
    if limit == 0 { return [] }
    return try request { connection in
      try connection.page(
        of: query, after: nil, atMost: limit ?? .max, requiringTable: requiresTable
      ).records
    }
  }

  // MARK: Writing

  /// Saves all of some records, in order, or none.
  ///
  /// - Parameters:
  ///   - records: The records to save, each once.
  ///   - policy: The fields that are saved, and the condition for the save.
  /// - Returns: The saved records in their current state, in the given order.
  /// - Throws: The ``RecordError`` of the first record that cannot be saved, or of the file;
  ///   `CancellationError`.
  @discardableResult
  public func save(
    _ records: [DatabaseRecord], policy: SavePolicy = .ifUnchanged
  ) throws -> [DatabaseRecord] {
    try apply(records.map { .save($0, policy) }).compactMap { reply in
      if case .saved(let record) = reply { record } else { nil }
    }
  }

  /// Saves all of some values as records, in order, or none.
  ///
  /// - Parameters:
  ///   - values: The values to save. By default they are saved even if another writer has saved
  ///     them.
  ///   - policy: The fields that are saved, and the condition for the save.
  /// - Returns: The saved records in their current state, in the given order.
  /// - Throws: The ``RecordError`` of the first record that cannot be saved, or of the file; a
  ///   ``FieldValueError`` if no field can hold a property; any error of the type's own encoding;
  ///   `CancellationError`.
  @discardableResult
  public func save(
    _ values: [some RecordConvertible], policy: SavePolicy = .allKeys
  ) throws -> [DatabaseRecord] {
    try save(try values.map { try $0.record() }, policy: policy)
  }

  /// Deletes all of some records, in order, or none, even if other writers have saved them.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the records, each once.
  ///   - ignoresMissing: Whether a missing record counts as deleted.
  /// - Throws: The ``RecordError`` of the first record that cannot be deleted, or of the file;
  ///   `CancellationError`.
  public func delete(_ ids: [RecordID], ignoringMissing ignoresMissing: Bool = false) throws {
    let found = ignoresMissing ? Set(try request { try $0.lookup(ids, keys: []) }.keys) : nil
    _ = try apply(
      ids.filter { found?.contains($0) ?? true }.map { .delete($0, ifTagged: nil) })
  }

  private func apply(_ changes: [RecordChange]) throws -> [RecordReply] {
    let replies = try request { try $0.apply(RecordBatch(changes, isAtomic: true)) }
    let errors = replies.compactMap { reply in
      if case .failed(let error) = reply { error } else { nil }
    }
    if let error = errors.first(where: { !$0.isOfOtherChange }) { throw error }
    return replies
  }

  private func request<Response>(
    _ body: (SQLiteConnection) throws -> Response
  ) throws -> Response {
    try check()
    do { return try body(connection) } catch let error as SQLiteError {
      // SQLite may have rolled back the transaction: a later statement would be committed alone.
      if !error.isOfStatement || !connection.isInTransaction { failure = error }
      throw error.translated
    }
  }

  private func check() throws {
    if let failure { throw failure.translated }
    if isCancelled() { throw CancellationError() }
  }
}

extension RecordWriter {
  /// Runs a body with a writer. Must be called in a transaction or savepoint that is rolled back
  /// after an error.
  ///
  /// - Parameter isCancelled: Returns whether the task that waits for the transaction is cancelled.
  /// - Throws: The error of the body; `CancellationError` after a cancellation; a ``RecordError`` if
  ///   a deferred foreign key is violated. A `SQLiteError` concerns the whole transaction, which
  ///   must not be committed.
  package static func perform<Result>(
    in connection: SQLiteConnection, _ options: SQLiteOptions, isCancelled: @escaping () -> Bool,
    _ body: (RecordWriter) throws -> Result
  ) throws -> Result {
    let writer = RecordWriter(connection, options, isCancelled: isCancelled)
    do {
      try writer.check()
      let result = try body(writer)
      try writer.check()
      guard !connection.hasDeferredViolations else {
        throw RecordError(
          .invalid(
            """
            foreign key violation at the end of the transaction: a row refers to a row that does \
            not exist
            """))
      }
      return result
    } catch { throw writer.failure ?? error }
  }
}

extension SQLiteRecordDatabase {
  /// Checks that another connection may write the file for this task.
  ///
  /// - Throws: A ``RecordError`` if the access does not allow writing, or if this task is in a
  ///   transaction of the file, for whose end the other connection would wait.
  package func checkWriting() throws {
    try checkNoTransaction()
    guard options.access == .create || options.access == .existing else {
      throw RecordError(
        .notPermitted("\(path) cannot be written: its access is .\(options.access.rawValue)"))
    }
  }

  /// Runs a body in a transaction of its own, and rolls it back if the body throws.
  ///
  /// - Throws: The error of the body; a ``RecordError`` if the file cannot be written, or if this
  ///   task is in a transaction of it; `CancellationError`.
  package func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (RecordWriter) throws -> Result
  ) async throws -> Result {
    try await write { [options] connection in
      try RecordWriter.perform(
        in: connection, options, isCancelled: { connection.isCancelled }, body)
    }
  }
}

extension RecordError {
  /// Whether the change was not made because of another one.
  fileprivate var isOfOtherChange: Bool {
    if case .batchFailed = reason { true } else { false }
  }
}
