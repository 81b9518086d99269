public import CompositeOperations
internal import SQLiteSupport

/// A transaction of a database, or a savepoint within one: a database for the operations in it.
///
/// Created by a ``TransactionOperation``. Its requests run one at a time, each as a whole. After
/// the transaction or the savepoint has ended, every request throws.
public final class RecordTransaction: RecordDatabase {
  private let worker: SQLiteWorker
  private let options: SQLiteOptions
  /// Serializes the start of transactions with the writers of the database.
  private let writerMutex: AsyncMutex
  private let scope: TransactionScope
  /// Held by a request, and by a savepoint while it is open.
  private let requestMutex = AsyncMutex()

  init(of database: SQLiteRecordDatabase) {
    worker = database.worker(for: .writing)
    options = database.options
    writerMutex = database.writerMutex
    scope = TransactionScope(path: database.path)
  }

  private init(savepointIn outer: RecordTransaction) {
    worker = outer.worker
    options = outer.options
    writerMutex = outer.writerMutex
    scope = outer.scope.savepoint()
  }

  /// The limits of the database.
  public var limits: RecordLimits { options.limits }
  /// All capabilities except changes, which the database reports after the commit.
  public var capabilities: RecordCapabilities { .all.subtracting(.changes) }

  // MARK: Lifecycle

  func begin() async throws {
    try await writerMutex.acquire()
    defer { writerMutex.release() }
    try await worker.run { try $0.begin(.immediate) }
  }

  /// Runs a body in the transaction.
  nonisolated(nonsending) func enter<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try await scope.enter(body)
  }

  func commit() async throws {
    scope.end()
    // Remaining requests come first, and find that it has ended.
    try await requestMutex.acquire()
    defer { requestMutex.release() }
    try await worker.run { connection in
      try connection.checkTransaction()
      try connection.commit()
    }
    await worker.close()
  }

  /// Rolls back, unless it was committed.
  func rollBack() async {
    scope.end()
    await worker.runIfOpen { connection in
      connection.rollBack()
      connection.truncateWAL()
    }
    await worker.close()
  }

  // MARK: Savepoints

  /// Returns an operation that runs another one in a savepoint, and rolls its changes back unless
  /// it succeeds.
  ///
  /// While it runs, other requests and savepoints of this transaction wait, so the savepoints of a
  /// `ParallelOperation` run one at a time. Operations in the savepoint must use the database that
  /// is passed to the body. A request to the enclosing transaction throws
  /// ``RecordError/Reason/invalid(_:)``, because the savepoint could not undo it.
  ///
  /// - Parameter body: Makes the operation, given the database of the savepoint.
  /// - Returns: The operation. It fails with the error of `body` or of its operation, or with a
  ///   ``RecordError`` if the transaction has ended.
  public func savepoint<Body: ComposableOperation>(
    _ body: @escaping @Sendable (RecordTransaction) throws -> Body
  ) -> some ComposableOperation<Body.Success> {
    SimpleOperation.withContext { context in
      try await self.perform(in: context, body)
    }.named("savepoint")
  }

  private nonisolated(nonsending) func perform<Body: ComposableOperation>(
    in context: OperationContext, _ body: @Sendable (RecordTransaction) throws -> Body
  ) async throws -> Body.Success {
    try checkUse()
    try await requestMutex.acquire()
    defer { requestMutex.release() }
    let savepoint = RecordTransaction(savepointIn: self)
    try await worker.run { connection in
      try connection.checkTransaction()
      try connection.beginSavepoint("savepoint")
    }
    do {
      let result = try await savepoint.enter { try await context.run(try body(savepoint)) }
      try Task.checkCancellation()
      savepoint.scope.end()
      try await savepoint.requestMutex.acquire()
      defer { savepoint.requestMutex.release() }
      try await worker.run { connection in
        try connection.checkTransaction()
        try connection.releaseSavepoint("savepoint")
      }
      return result
    } catch {
      savepoint.scope.end()
      await worker.runIfOpen { $0.rollBackSavepoint("savepoint") }
      throw error
    }
  }

  // MARK: Requests

  /// Returns ``AccountStatus/available``.
  public func accountStatus() async throws -> AccountStatus { .available }

  /// Saves and deletes records within the transaction.
  ///
  /// - Throws: A ``RecordError`` if the batch exceeds the limits, the file cannot be written, the
  ///   transaction has ended, or this task is in a savepoint of it; `CancellationError`.
  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try limits.check(batch)
    return try await request { try $0.apply(batch) }
  }

  /// Reads records by their names, with the changes of the transaction.
  ///
  /// - Throws: A ``RecordError`` if the limit is exceeded, a table has no column for a key, the file
  ///   cannot be read, the transaction has ended, or this task is in a savepoint of it;
  ///   `CancellationError`.
  public func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    return try await request { try $0.lookup(ids, keys: keys) }
  }

  /// Returns a page of the records that match a query, with the changes of the transaction.
  ///
  /// - Throws: A ``RecordError`` if the query is invalid, the table has no column for a key, the
  ///   file cannot be read, the transaction has ended, or this task is in a savepoint of it;
  ///   `CancellationError`.
  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await request { [options] connection in
      try connection.page(
        of: query, after: cursor, atMost: count, requiringTable: options.access != .create)
    }
  }

  /// Not supported: the database reports changes after the commit.
  ///
  /// - Throws: A ``RecordError`` in any case.
  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    throw RecordError(
      .unsupported("a transaction cannot list changes; ask its database after the commit"))
  }

  private func request<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try checkUse()
    try await requestMutex.acquire()
    defer { requestMutex.release() }
    try checkUse()
    return try await worker.run { connection in
      // It may have ended while this request waited.
      try self.checkUse()
      try connection.checkTransaction()
      return try body(connection)
    }
  }

  /// Checks that requests are possible.
  ///
  /// - Throws: A ``RecordError`` if it has ended, or if this task is in a savepoint of it.
  private func checkUse() throws {
    if scope.hasEnded {
      throw RecordError(.invalid("the transaction or savepoint has ended"))
    }
    if scope.isInSavepoint {
      throw RecordError(
        .invalid("this task is in a savepoint: use the database passed to its body"))
    }
  }
}

extension SQLiteConnection {
  /// Checks that the transaction is open. Otherwise `SAVEPOINT` would begin a new one.
  ///
  /// - Throws: A ``RecordError`` if SQLite has rolled back the transaction.
  fileprivate func checkTransaction() throws {
    if isInTransaction { return }
    throw RecordError(.storage("the transaction has already been rolled back by an error"))
  }
}
