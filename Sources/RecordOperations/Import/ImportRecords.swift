public import CompositeOperations
internal import SQLiteSupport

/// An operation that imports the records of a file into a table.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let load = ImportRecords(
///   "Book", into: database, from: "books.csv", as: .csv, existing: .updated,
///   badRows: .skipped(atMost: 100))
/// let imported = try await load.run().get()
/// for problem in imported.problems { print("books.csv,", problem) }
/// ```
///
/// The header of a CSV file, or the keys of a JSON object, name the columns of the table.
///
/// - If the table does not exist, the import creates it, as a save does. For CSV, its columns have
///   the type text, except the columns in ``references``. For JSON, the first value of a column
///   determines the type of the column.
/// - If this module has created the table before, the import adds missing columns only if
///   ``addsColumns`` is `true`.
/// - If another program created the table, the import adds no columns. The triggers, checks and
///   foreign keys of the table apply.
///
/// In a table that this module created, each record needs a name (`id`). If the file contains no
/// names, the import generates them. In a table of another program, it generates no names.
///
/// Cells are bound to statements as values and never become part of the SQL text.
///
/// A row that cannot be imported is a *bad row*: for example, it has too few or too many cells, a
/// value does not fit its column, or the table rejects the row. Bad rows are reported with their
/// lines and the reasons. ``badRows`` determines whether the other rows are imported.
///
/// The import is one transaction, so a run that fails or is cancelled leaves the table as it was.
/// With ``rowsPerTransaction``, the import consists of several transactions. If the run then fails
/// or is cancelled, the transactions that have been committed remain. Other saves through the same
/// ``SQLiteRecordDatabase`` wait until the whole import has ended. Other connections that write the
/// file may find it locked during a transaction.
///
/// A transaction needs free space for about twice its rows: in the log beside the database, and in
/// the database. When the import has ended, successfully or not, a log of more than about 4 MB is
/// copied to the database and truncated. The log remains if another connection is using it, or if
/// the disk is full. An import that fails before anything is imported removes a database file that
/// it has created, unless another connection uses the file.
///
/// The run reports the number of bytes that it has read. If there are too many bad rows, or if the
/// import fails after a transaction was committed, the run ends in a ``RecordImportError``. In all
/// other cases, it ends in a ``RecordError`` if the database fails, and in a ``RecordFileError`` if
/// the file as a whole cannot be imported. If the run is cancelled after a transaction was
/// committed, its outcome is `.cancelled`, and ``CompositeOperations/OperationRun/lateOutcome``
/// contains the ``RecordImportError``.
public struct ImportRecords: ComposableOperation {
  /// The type of the records, which is the name of the table.
  public let type: String
  /// The database of the table.
  public let database: SQLiteRecordDatabase
  /// The path of the file.
  public let path: String
  /// The format of the file.
  public let format: ImportFormat
  /// The treatment of a row whose record already exists.
  public let existing: ExistingRowPolicy
  /// The treatment of rows that cannot be imported.
  public let badRows: BadRowPolicy
  /// The columns whose cells are names of records, with the types of these records. With
  /// `["author": "Author"]`, the cell `jane` of the column `author` refers to `Author/jane`.
  public let references: [String: String]
  /// Whether the import adds columns that the file has and the table lacks, if this module has
  /// created the table before.
  public let addsColumns: Bool
  /// The number of rows of each transaction; `nil` for a single transaction.
  public let rowsPerTransaction: Int?
  /// The open descriptor to read; `nil` to read the path.
  private var descriptor: Int32?

  /// Creates an import.
  ///
  /// - Parameters:
  ///   - type: The type of the records, which is the name of the table.
  ///   - database: The database of the table.
  ///   - path: The path of the file, which may also be a pipe or a device.
  ///   - format: The format of the file.
  ///   - existing: The treatment of a row whose record already exists.
  ///   - badRows: The treatment of rows that cannot be imported.
  ///   - references: The columns whose cells are names of records, with the types of these records.
  ///     With `["author": "Author"]`, the cell `jane` of the column `author` refers to
  ///     `Author/jane`. A column that is a foreign key must not be listed, because its type is
  ///     known.
  ///   - addsColumns: Whether the import adds columns that the file has and the table lacks, if
  ///     this module has created the table before. If no columns may be added, a CSV file with a
  ///     column that the table lacks is refused, and a JSON object with such a key is a bad row.
  ///   - rowsPerTransaction: The number of rows of each transaction; `nil` for a single
  ///     transaction. Between two transactions, other connections can write the file, but saves
  ///     through this ``SQLiteRecordDatabase`` still wait.
  /// - Precondition: `rowsPerTransaction` is at least 1, and the number of bad rows to skip is at
  ///   least 0.
  public init(
    _ type: String, into database: SQLiteRecordDatabase, from path: String,
    as format: ImportFormat, existing: ExistingRowPolicy = .refused,
    badRows: BadRowPolicy = .refused,
    references: [String: String] = [:], addsColumns: Bool = false, rowsPerTransaction: Int? = nil
  ) {
    ImportProblems.check(badRows, rowsPerTransaction: rowsPerTransaction)
    self.type = type
    self.database = database
    self.path = path
    self.format = format
    self.existing = existing
    self.badRows = badRows
    self.references = references
    self.addsColumns = addsColumns
    self.rowsPerTransaction = rowsPerTransaction
  }

  /// Returns an import that reads an open descriptor from its current position. The descriptor
  /// stays open.
  ///
  /// - Parameters:
  ///   - descriptor: The open descriptor.
  ///   - name: The name of the descriptor in errors.
  ///   - make: Creates the import, with the name as its path.
  package static func reading(
    from descriptor: Int32, called name: String, _ make: (_ path: String) -> ImportRecords
  ) -> ImportRecords {
    var load = make(name)
    load.descriptor = descriptor
    return load
  }

  public var operationName: String { "import \(type)" }

  /// Imports the file.
  ///
  /// - Returns: The path, the number of imported records, and the problems with skipped rows.
  /// - Throws: A ``RecordImportError``, a ``RecordError``, a ``RecordFileError``;
  ///   `CancellationError`.
  public func perform(in context: OperationContext) async throws -> ImportedFile {
    // Checked before a database file is created.
    if descriptor == nil { try ImportSource.check(path) }
    let isNewFile = SQLiteFile(database.path).isMissing
    return try await database.withWriter { connection in
      do { return try load(on: connection, context) } catch {
        let kept = (error as? RecordImportError)?.recordCount ?? 0
        if isNewFile, kept == 0 { connection.removeUnusedFile() }
        throw error
      }
    }
  }

  private func load(
    on connection: SQLiteConnection, _ context: OperationContext
  ) throws -> ImportedFile {
    var source = try ImportSource(path, open: descriptor, format) {
      if connection.isCancelled { throw CancellationError() }
    }
    defer { source.close() }
    if source.size ?? .max > SQLiteConnection.autocheckpointSize { connection.checkpointWAL() }
    defer { connection.truncateWAL() }
    var rows = RowImport(
      of: path, into: type, existing, references, addsColumns: addsColumns,
      on: SQLiteImportTarget(type, database.options.access, on: connection))
    return try rows.load(
      &source, badRows, rowsPerTransaction: rowsPerTransaction, context)
  }
}

/// The result of an import.
public struct ImportedFile: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The number of records that were inserted or updated.
  public let recordCount: Int
  /// The problems with the skipped rows, in their order.
  public let problems: [RowProblem]
}

/// An error for an import with too many bad rows, or for a failure after a transaction was
/// committed.
public struct RecordImportError: Error, Sendable {
  /// The path of the file.
  public let path: String
  /// The problems with the rows, in their order. If there were too many for the ``BadRowPolicy``, the
  /// last one is the problem that ended the import.
  public let problems: [RowProblem]
  /// The number of records that earlier transactions have committed to the table.
  public let recordCount: Int
  /// The error that ended the import after a transaction was committed: a ``RecordError``, a
  /// ``RecordFileError`` or a `CancellationError`. `nil` if bad rows ended it.
  public let cause: (any Error)?

  init(_ path: String, _ problems: [RowProblem], recordCount: Int, cause: (any Error)?) {
    self.path = path
    self.problems = problems
    self.recordCount = recordCount
    self.cause = cause
  }
}

extension RecordImportError: CustomStringConvertible {
  public var description: String {
    let first = problems.first.map { "\($0)" } ?? ""
    let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
    let kept =
      recordCount > 0
      ? "\(recordCount == 1 ? "1 record was" : "\(recordCount) records were") imported before"
      : "nothing was imported"
    guard let cause else { return "\(path), \(first)\(more); \(kept)" }
    return "\(path): \(cause is CancellationError ? "cancelled" : "\(cause)"); \(kept)"
  }
}
