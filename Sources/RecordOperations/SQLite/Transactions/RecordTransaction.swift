public import CompositeOperations

/// A transaction of a database, or a part of one that can be undone by itself: a database for the operations in it.
///
/// A ``TransactionOperation`` makes it. Its requests come one after another, each as a whole. Behind the end of the
/// transaction, or of the savepoint, each is refused.
public final class RecordTransaction: RecordDatabase {
  private let worker: SQLiteWorker
  private let path: String
  private let options: SQLiteOptions
  /// The turn of the database.
  private let beginning: RecordTurn
  /// Whose savepoint it is; nil for that of the whole transaction.
  private let outer: RecordTransaction?
  /// Held by a request, and by a savepoint as long as it is open.
  private let turn = RecordTurn()
  private let hasEnded = Lock(false)

  /// The transactions and savepoints in which this task is, from the outermost one. It may outlive them.
  @TaskLocal private static var entered: [RecordTransaction] = []

  init(of database: SQLiteRecordDatabase) {
    worker = database.worker(for: .writing)
    path = database.path
    options = database.options
    beginning = database.turn
    outer = nil
  }

  private init(in outer: RecordTransaction) {
    worker = outer.worker
    path = outer.path
    options = outer.options
    beginning = outer.beginning
    self.outer = outer
  }

  public var limits: RecordLimits { options.limits }
  /// All but changes, which are told of when they have happened.
  public var capabilities: RecordCapabilities { .all.subtracting(.changes) }

  // MARK: Its way

  func begin() async throws {
    try await beginning.take()
    defer { beginning.giveBack() }
    try await worker.run { try $0.begin(.writing) }
  }

  /// Runs a body that is within it.
  nonisolated(nonsending) func entered<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try await Self.$entered.withValue(Self.entered + [self], operation: body)
  }

  /// Whether this task is in a transaction of a file that has not ended.
  static func isEntered(of path: String) -> Bool {
    entered.contains {
      $0.outer == nil && !$0.hasEnded.withLock(\.self)
        && SQLiteFile($0.path).isSame(as: SQLiteFile(path))
    }
  }

  func commit() async throws {
    hasEnded.withLock { $0 = true }
    // Behind what is left of it, which finds out that it has ended.
    try await turn.take()
    defer { turn.giveBack() }
    try await worker.run { connection in
      try connection.checkTransaction()
      try connection.commit()
    }
    await worker.close()
  }

  /// Undoes all, if it is not committed.
  func abandon() async {
    hasEnded.withLock { $0 = true }
    await worker.finish { connection in
      connection.rollBack("ROLLBACK")
      connection.cutLog()
    }
    await worker.close()
  }

  // MARK: Parts

  /// Runs an operation so that what it has saved is undone if it does not end in a result.
  ///
  /// While it runs, other requests and savepoints of this transaction wait: those of a `ParallelOperation` come one after
  /// another. Within it, the database that it is given has to be used, or nothing could be undone; the one around it
  /// refuses with ``RecordError/Reason/invalid(_:)``.
  ///
  /// - Parameter body: Makes the operation, with the part of the transaction that it is to use.
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
    try await turn.take()
    defer { turn.giveBack() }
    let part = RecordTransaction(in: self)
    try await worker.run { connection in
      try connection.checkTransaction()
      try connection.beginPart()
    }
    do {
      let result = try await part.entered { try await context.run(try body(part)) }
      try Task.checkCancellation()
      part.hasEnded.withLock { $0 = true }
      try await part.turn.take()
      defer { part.turn.giveBack() }
      try await worker.run { connection in
        try connection.checkTransaction()
        try connection.endPart()
      }
      return result
    } catch {
      part.hasEnded.withLock { $0 = true }
      await worker.finish { $0.undoPart() }
      throw error
    }
  }

  // MARK: Requests

  public func accountStatus() async throws -> AccountStatus { .available }

  public func modify(_ batch: RecordBatch) async throws -> [RecordReply] {
    try limits.check(batch)
    return try await request { try $0.make(batch) }
  }

  public func lookup(
    _ ids: [RecordID], keys: [String]?
  ) async throws -> [RecordID: DatabaseRecord] {
    guard ids.count <= limits.items else { throw RecordError(.limitExceeded) }
    return try await request { try $0.lookup(ids, keys: keys) }
  }

  public func query(
    _ query: RecordQuery, after cursor: RecordCursor?, atMost count: Int
  ) async throws -> RecordPage {
    try await request { [options] connection in
      try connection.page(of: query, after: cursor, atMost: count, access: options.access)
    }
  }

  public func changes(since token: ChangeToken?, in zone: RecordZone) async throws -> ChangePage {
    throw RecordError(
      .unsupported("a transaction cannot list changes; ask its database after the commit"))
  }

  private func request<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try checkUse()
    try await turn.take()
    defer { turn.giveBack() }
    try checkUse()
    return try await worker.run { connection in
      // It may have ended while this was in the line.
      try self.checkUse()
      try connection.checkTransaction()
      return try body(connection)
    }
  }

  /// - Throws: A ``RecordError`` if it is over, or if this task is in a part of it.
  private func checkUse() throws {
    if hasEnded.withLock(\.self) {
      throw RecordError(.invalid("the transaction or savepoint has ended"))
    }
    if Self.entered.contains(where: { $0.outer === self && !$0.hasEnded.withLock(\.self) }) {
      throw RecordError(
        .invalid("this task is in a savepoint: use the database passed to its body"))
    }
  }
}

extension SQLiteConnection {
  /// - Throws: A ``RecordError`` if there is none any more. To begin a savepoint would begin another one.
  fileprivate func checkTransaction() throws {
    if isInTransaction { return }
    throw RecordError(.storage("the transaction has already been rolled back by an error"))
  }

  fileprivate func begin(_ kind: Transaction) throws { try run(kind.rawValue) }

  fileprivate func commit() throws {
    try run("COMMIT")
    schema.committed()
  }

  fileprivate func beginPart() throws { try run("SAVEPOINT \"part\"") }
  fileprivate func endPart() throws { try run("RELEASE \"part\"") }

  fileprivate func undoPart() {
    rollBack("ROLLBACK TO \"part\"")
    rollBack("RELEASE \"part\"")
  }
}
