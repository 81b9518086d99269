/// Records in a file of SQLite: a type is a table of it, a record a row, and a field a column.
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
/// The first record of a type makes its table, and the first value for a key its column: `INTEGER`, `REAL`, `TEXT` or
/// `BLOB` by the kind of the value, `TEXT DATE` for moments, `TEXT LIST` for lists, which are JSON, and `TEXT
/// REFERENCE` for references that are kept. The other references are foreign keys, which SQLite itself watches over. A
/// value of another kind than that of its column is refused.
///
/// Any other file of SQLite is one of records, too. The text of the key of a row is the name of its record: that of a
/// column of texts or of whole numbers, otherwise the number of the row, and a list in JSON where the key has several
/// columns. A row with null or bytes in a column of texts for the key has no name and is no record, but is exported. Views can be queried. Whatever the file has in it: what SQLite does not take for the text that it should be
/// is given as bytes, and nothing of it becomes a part of a statement.
///
/// Tags and changes come from triggers, so that the changes of everybody count who writes the file; but for a row that
/// another program's `REPLACE` throws out by a second unique column: SQLite tells triggers of it only if that program has
/// set `recursive_triggers`. The tables made
/// here have them; those of others get them with the first change that is made here, or with ``keepChanges(of:)``, and
/// until then their records have no tags. What the triggers write is in tables whose names begin with `_record`.
///
/// Each request runs in one transaction: those that write one after another, and a few of those that read at the same
/// time. A cancelled one is interrupted. The file is opened by the first request, and closed when the database is gone.
public final class SQLiteRecordDatabase: RecordDatabase {
  /// Where the file is.
  public let path: String
  public let options: SQLiteOptions

  private let writer: SQLiteWorker
  private let readers: SQLiteReaders
  /// Held by who writes, and by who begins a transaction of his own until it has begun: one at a time waits for a lock.
  let turn = RecordTurn()

  public var limits: RecordLimits { options.limits }
  public var capabilities: RecordCapabilities { .all }

  /// A database in a file. It is opened by the first request.
  ///
  /// - Parameters:
  ///   - path: Of the file; relative ones begin in the working folder.
  ///   - options: How it is opened.
  public init(_ path: String, _ options: SQLiteOptions = SQLiteOptions()) {
    self.path = path
    self.options = options
    writer = SQLiteWorker("SQLite writer") {
      try SQLiteConnection.open(path, for: .writing, options)
    }
    readers = SQLiteReaders(capacity: options.readers) {
      try SQLiteConnection.open(path, for: .reading, options)
    }
  }

  /// Closes the file as soon as the requests are through that were made before. One that follows opens it again.
  ///
  /// It need not be called: the file is closed, too, when the database is gone.
  public func close() async {
    await readers.close()
    await writer.close()
  }

  /// A connection of its own, for what is more than one request: a transaction that takes its time.
  package func worker(for purpose: SQLiteConnection.Purpose) -> SQLiteWorker {
    SQLiteWorker("SQLite worker") { [path, options] in
      try SQLiteConnection.open(path, for: purpose, options)
    }
  }

  /// How many write, or wait for that.
  package var writerCount: Int { turn.count }

  /// - Throws: A ``RecordError`` if this task is in a transaction of it, for whose end it would wait.
  func checkNoTransaction() throws {
    guard RecordTransaction.isEntered(of: path) else { return }
    throw RecordError(
      .invalid(
        """
        deadlock: this task is in a transaction of \(path), for whose end the database would wait; \
        use the transaction that was passed to its body
        """
      ))
  }

  /// Runs a body in a transaction that sees the database as it is at its beginning.
  ///
  /// - Throws: What the body throws, a ``SQLiteError`` translated; a ``RecordError`` if the file cannot be read;
  ///   `CancellationError`.
  package func read<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try await readers.run { connection in
      try connection.transaction(.reading) { try body(connection) }
    }
  }

  /// Runs a body, which may make several transactions, while nobody else writes by this database.
  ///
  /// - Throws: What the body throws, a ``SQLiteError`` translated; a ``RecordError`` if the file cannot be written;
  ///   `CancellationError`.
  package func withWriter<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try checkNoTransaction()
    try await turn.take()
    defer { turn.giveBack() }
    return try await writer.run(body)
  }

  /// Runs a body in a transaction during which nobody else writes; what it does is undone if it throws.
  ///
  /// - Throws: What the body throws, a ``SQLiteError`` translated; a ``RecordError`` if the file cannot be written;
  ///   `CancellationError`.
  package func write<Response: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Response
  ) async throws -> Response {
    try await withWriter { connection in
      try connection.transaction(.writing) { try body(connection) }
    }
  }
}
