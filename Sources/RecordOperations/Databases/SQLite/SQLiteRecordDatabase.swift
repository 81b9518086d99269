internal import CompositeOperations
package import SQLiteSupport

/// A database of records in an SQLite file: a type is a table, a record a row, and a field a
/// column.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// var book = DatabaseRecord("Book", "9780141439600")
/// book["title"] = "Persuasion"
/// let reply = try await database.modify(RecordBatch([.save(book, .ifUnchanged)]))
/// ```
///
/// The first record of a type creates its table, and the first value of a field creates its column:
///
/// | value | column |
/// |---|---|
/// | number, string or bytes | `INTEGER`, `REAL`, `TEXT` or `BLOB` |
/// | date | `TEXT DATE` |
/// | list | `TEXT LIST`, which holds JSON |
/// | reference with the rule `.keep` | `TEXT REFERENCE` |
/// | any other reference | a foreign key, which SQLite enforces |
///
/// A value that does not match the type of its column is an error.
///
/// Files of other programs can be used, too. The name of a record is the key of its row: the value
/// of a single key column of text or integers, a JSON list if the key has several columns, and
/// otherwise the row ID. A row whose text key column holds null or bytes has no name: it is not a
/// record, but it is exported. Views can be queried. Text that is not UTF-8 is returned as bytes.
/// Values are bound and names are quoted, so no content of a file runs as SQL.
///
/// Tags and changes come from triggers, so that changes by other programs count. There is one
/// exception: a `REPLACE` of another program that deletes a row because of a second unique column.
/// SQLite runs the triggers for that row only if the program has set `recursive_triggers`. Tables
/// that are created here have the triggers. Other tables get them with the first save or deletion
/// that is made here, or with ``keepChanges(of:)``, but not with an import. Until then, their
/// records have no tags. The triggers write to tables whose names begin with `_record`.
///
/// Each request runs in one transaction. Writing requests run one at a time, and up to
/// ``SQLiteOptions/readers`` reading requests run concurrently. Cancelling a request interrupts it.
/// The first request opens the file, which is closed when the database is deallocated.
///
/// The first opening of a file in a process turns off the memory statistics of SQLite
/// (`SQLITE_CONFIG_MEMSTATUS`), because their mutex slows down concurrent requests. SQLite's own
/// limits for its memory then have no effect. If the process has used SQLite before, the statistics
/// stay on.
public final class SQLiteRecordDatabase: RecordDatabase {
  /// The path of the file.
  public let path: String
  /// How the file is opened and used.
  public let options: SQLiteOptions

  private let writer: SQLiteWorker
  private let readers: SQLiteWorkerPool
  /// Copies the log to the file while the writer runs. Opened only for many large transactions.
  private let copier: SQLiteWorker
  private let hasCopier = Lock(false)
  /// Serializes writers, and the start of explicit transactions: only one of them waits for a lock.
  let writerMutex = AsyncMutex()

  /// The limits of ``options``.
  public var limits: RecordLimits { options.limits }
  /// All capabilities.
  public var capabilities: RecordCapabilities { .all }

  /// Creates a database for a file, which the first request opens.
  ///
  /// - Parameters:
  ///   - path: The path of the file, absolute or relative to the working directory.
  ///   - options: How the file is opened and used.
  public init(_ path: String, _ options: SQLiteOptions = SQLiteOptions()) {
    self.path = path
    self.options = options
    writer = Self.worker("SQLite writer", for: .writing, path, options)
    copier = Self.worker("SQLite log", for: .writing, path, options)
    readers = SQLiteWorkerPool(capacity: options.readers) { index in
      Self.worker("reader \(index)", for: .reading, path, options)
    }
  }

  /// Closes the file after the pending requests. A later request opens it again.
  ///
  /// Calling it is optional: the file is closed when the database is deallocated.
  public func close() async {
    await readers.close()
    await copier.close()
    await writer.close()
  }

  /// Returns a worker with a connection of its own, for a long transaction of several requests.
  package func worker(for purpose: SQLiteConnection.Purpose) -> SQLiteWorker {
    Self.worker("SQLite worker", for: purpose, path, options)
  }

  private static func worker(
    _ name: String, for purpose: SQLiteConnection.Purpose, _ path: String, _ options: SQLiteOptions
  ) -> SQLiteWorker {
    SQLiteWorker(name, convertingErrors: \.translated) {
      try SQLiteConnection.open(path, for: purpose, options.configuration)
    }
  }

  /// The number of writers that run or wait.
  package var writerCount: Int { writerMutex.count }

  /// Checks that this task is not in a transaction of the file, for whose end a request would wait.
  ///
  /// - Throws: A ``RecordError`` if it is.
  func checkNoTransaction() throws {
    guard TransactionScope.isInTransaction(of: path) else { return }
    throw RecordError(
      .invalid(
        """
        deadlock: this task is in a transaction of \(path), for whose end the database would wait; \
        use the transaction that was passed to its body
        """
      ))
  }

  /// Runs a body in a transaction that sees the database as it is at the first read.
  ///
  /// - Throws: The error of the body, where a ``SQLiteError`` becomes a ``RecordError``; a
  ///   ``RecordError`` if the file cannot be read; `CancellationError`.
  package func read<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try await readers.run { connection in
      try connection.transaction(.deferred) { try body(connection) }
    }
  }

  /// Runs a body, which may use several transactions, while no other request of this database
  /// writes.
  ///
  /// - Throws: The error of the body, where a ``SQLiteError`` becomes a ``RecordError``; a
  ///   ``RecordError`` if the file cannot be written; `CancellationError`.
  package func withWriter<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try checkNoTransaction()
    try await writerMutex.acquire()
    defer { writerMutex.release() }
    return try await writer.run(body)
  }

  // MARK: The log

  /// Begins to copy a large log to the file, while other requests may write. If the log has become
  /// much larger than that, empties it and waits.
  func copyLog() async {
    let size = SQLiteFile(path).walSize
    if size <= SQLiteConnection.autocheckpointSize { return }
    hasCopier.withLock { $0 = true }
    if size > SQLiteConnection.rareAutocheckpointSize {
      try? await copier.run { $0.truncateWAL() }
    } else {
      copier.open()
      copier.runLaterIfOpen { $0.checkpointWAL() }
    }
  }

  /// Empties a large log, unless a transaction is open. If the task is cancelled, the log is emptied
  /// after this call, because a copy or a long request of another task may precede it.
  func truncateLog() async {
    let hasCopier = hasCopier.withLock { $0 }
    do {
      // The log cannot be emptied while it is copied.
      if hasCopier { try await copier.run { _ in } }
      try await writer.run { $0.truncateWAL() }
    } catch {
      if hasCopier {
        copier.runLaterIfOpen { [writer] _ in writer.runLaterIfOpen { $0.truncateWAL() } }
      } else {
        writer.runLaterIfOpen { $0.truncateWAL() }
      }
    }
  }

  /// Runs a body in a transaction that excludes other writers, and rolls back if the body throws.
  ///
  /// - Throws: The error of the body, where a ``SQLiteError`` becomes a ``RecordError``; a
  ///   ``RecordError`` if the file cannot be written; `CancellationError`.
  package func write<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try await withWriter { connection in
      try connection.transaction(.immediate) { try body(connection) }
    }
  }
}
