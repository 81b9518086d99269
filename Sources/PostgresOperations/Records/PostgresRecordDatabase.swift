internal import CompositeOperations
public import RecordOperations

/// A database of records in a schema of a PostgreSQL database: a type is a table, a record a row, and
/// a field a column.
///
/// ```swift
/// import PostgresOperations
/// import RecordOperations
///
/// let database = PostgresRecordDatabase("postgresql://app@db.example.org/library")
/// var book = DatabaseRecord("Book", "9780141439600")
/// book["title"] = "Persuasion"
/// let saved = try await SaveRecords([book], in: database).run().get()
/// ```
///
/// The first record of a type creates its table, and the first value of a field creates its column:
///
/// | value | column |
/// |---|---|
/// | integer | `bigint` |
/// | double | `double precision` |
/// | string | `text` in byte order |
/// | bytes | `bytea` |
/// | date | `timestamptz(3)` |
/// | list | `jsonb` |
/// | reference with the rule `.keep` | the domain `record_reference` over `text` |
/// | any other reference | a foreign key, which is checked at the end of each request |
///
/// A value that does not match the type of its column is an error. PostgreSQL cannot store U+0000 in
/// text: in tables that are created here, U+0000 and U+0001 are stored as the pairs U+0001 U+0001 and
/// U+0001 U+0002. In other tables, a text with U+0000 is an error that names the field.
///
/// Tables of other programs can be used, too. They get no columns. Columns of the types `smallint`,
/// `integer`, `boolean` (0 and 1), `real`, `varchar`, `uuid` and `timestamptz`, and of enumerations
/// and domains, are fields as well. If a request needs a column of another type, its error names the
/// column and the type. The name of a record is the primary key of its row: the value of a single
/// column of text, integers or UUIDs, and a JSON list without spaces if the key has several columns.
/// Views, partitioned tables and tables without such a key can be queried. Values are sent as
/// parameters, and names are quoted, so no content of a record runs as SQL.
///
/// Tags and changes come from triggers, so that changes by other programs count. Tables that are
/// created here have the triggers. Other tables get them with the first save or deletion that is made
/// here, or with ``keepChanges(of:)``. Until then, their records have no tags. The triggers write to
/// the table `record_states`. The schema also has the table `record_database`.
///
/// A batch is one transaction. A change that fails does not affect the others, unless the batch is
/// atomic. Cancelling a reading request ends it at once. A request that writes runs to its end, because
/// otherwise it would not be known whether it was executed.
///
/// Connections are opened when they are needed. The server must be PostgreSQL 13 or later. Errors
/// contain no password.
public final class PostgresRecordDatabase: RecordDatabase {
  /// How the database is used.
  public let options: PostgresRecordOptions

  let address: String
  let schema: PostgresRecordSchema
  private let pool: PostgresPool

  /// The limits of ``options``.
  public var limits: RecordLimits { options.limits }
  /// All capabilities.
  public var capabilities: RecordCapabilities { .all }

  /// Creates a database, to which the first request connects.
  ///
  /// - Parameters:
  ///   - address: The address, as libpq has it: a URI, or keywords with values. The environment
  ///     variables and the password file of libpq count, too.
  ///   - options: How the database is used.
  public init(_ address: String, _ options: PostgresRecordOptions = PostgresRecordOptions()) {
    self.address = address
    self.options = options
    schema = PostgresRecordSchema(options.schema)
    pool = PostgresPool(
      to: address, capacity: options.connections, timeout: options.timeout
    ) { connection in
      // Results are in these formats, whatever the settings of the server are.
      _ = try connection.rows(
        PostgresStatement(
          "set the formats",
          """
          SELECT set_config('DateStyle', 'ISO', false), set_config('bytea_output', 'hex', false),
            set_config('extra_float_digits', '1', false), set_config('TimeZone', 'UTC', false),
            set_config('IntervalStyle', 'postgres', false), set_config('lc_monetary', 'C', false),
            set_config('standard_conforming_strings', 'on', false)
          """))
    }
  }

  /// Closes the connections after the pending requests. A later request opens them again.
  ///
  /// Calling it is optional: the connections are closed when the database is deallocated.
  public func close() async { await pool.close() }

  // MARK: Requests

  /// The number of attempts of a request while other programs change the tables.
  private static let attemptLimit = 3

  /// Runs a body that only reads, each statement in a transaction of its own.
  ///
  /// - Throws: The error of the body, where a ``PostgresError`` becomes a ``RecordError``;
  ///   `CancellationError`.
  func read<Response: Sendable>(
    _ body: @escaping @Sendable (PostgresRecordSession) throws -> Response
  ) async throws -> Response {
    try await repeating { [pool, schema] in
      try await pool.runCancellable { connection in
        do {
          return try body(PostgresRecordSession(connection: connection, schema: schema))
        } catch let error as PostgresError {
          throw error.ofRequest(isAfterCommit: false)
        }
      }
    }
  }

  /// Runs a body in a transaction, which is rolled back if the body throws.
  ///
  /// If tables or columns are missing, the body runs again, to create them.
  ///
  /// - Throws: The error of the body, where a ``PostgresError`` becomes a ``RecordError``;
  ///   `CancellationError` if the task was cancelled before.
  func write<Response: Sendable>(
    _ body:
      @escaping @Sendable (
        _ session: PostgresRecordSession, _ missing: PostgresMissingParts?
      ) throws -> Response
  ) async throws -> Response {
    try Task.checkCancellation()
    return try await repeating { [pool, schema] in
      try await pool.run { connection in
        let session = PostgresRecordSession(connection: connection, schema: schema)
        do {
          return try connection.write { try body(session, nil) }
        } catch let missing as PostgresMissingParts {
          return try connection.write { try body(session, missing) }
        }
      }
    }
  }

  /// Runs a body that only reads, in one transaction that sees one state of the database.
  ///
  /// The body runs to its end even if the task is cancelled, so that it can clean up. Then its second
  /// argument throws a `CancellationError`, and so does its next request.
  ///
  /// - Throws: As ``read(_:)``.
  func snapshot<Response: Sendable>(
    _ body:
      @escaping @Sendable (
        _ session: PostgresRecordSession, _ check: @escaping () throws -> Void
      ) throws -> Response
  ) async throws -> Response {
    try await repeating {
      try await self.interruptible { connection, interruption in
        do {
          return try connection.transaction {
            _ = try connection.rows(
              PostgresStatement(
                "begin a snapshot",
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
            return try body(
              PostgresRecordSession(connection: connection, schema: self.schema),
              interruption.check)
          }
        } catch let error as PostgresError {
          // The cancellation has ended the connection.
          try interruption.check()
          throw error.ofRequest(isAfterCommit: false)
        }
      }
    }
  }

  /// Runs a body to its end, and ends its connection if the task is cancelled meanwhile.
  ///
  /// - Throws: The error of the body; a ``PostgresError`` if there is no connection;
  ///   `CancellationError` if the task was cancelled before.
  func interruptible<Response: Sendable>(
    _ body:
      @escaping @Sendable (
        _ connection: PostgresConnection, _ interruption: PostgresInterruption
      ) throws -> Response
  ) async throws -> Response {
    let interruption = PostgresInterruption()
    return try await withTaskCancellationHandler {
      try await pool.run { connection in
        try interruption.begin(connection)
        defer { interruption.end() }
        return try body(connection, interruption)
      }
    } onCancel: {
      interruption.cancel()
    }
  }

  private func repeating<Response: Sendable>(
    _ body: @Sendable () async throws -> Response
  ) async throws -> Response {
    var attempt = 1
    while true {
      do { return try await body() } catch let error as PostgresRecordSession.OutdatedSchema {
        // The error may also be the one of a trigger or a view, whatever the tables are.
        guard attempt < Self.attemptLimit else {
          throw error.cause.translated(isAfterCommit: false)
        }
        attempt += 1
      } catch let error as PostgresError {
        // There was no connection.
        throw error.translated(isAfterCommit: false)
      }
    }
  }
}

extension PostgresConnection {
  /// Runs a body in a transaction, and translates its errors.
  fileprivate func write<Response>(_ body: () throws -> Response) throws -> Response {
    do {
      return try transaction {
        do { return try body() } catch let error as PostgresError {
          throw error.ofRequest(isAfterCommit: false)
        }
      }
    } catch let error as PostgresError {
      throw error.ofRequest(isAfterCommit: true)
    }
  }
}

extension PostgresError {
  /// The error of a request: a ``RecordError``, or ``PostgresRecordSession/OutdatedSchema``.
  fileprivate func ofRequest(isAfterCommit: Bool) -> any Error {
    isSchemaMismatch
      ? PostgresRecordSession.OutdatedSchema(cause: self) : translated(isAfterCommit: isAfterCommit)
  }
}
