package import CompositeOperations

/// An operation that imports the rows of a file into a table of a database at an address, as
/// ``ImportRecords`` does for a SQLite file.
///
/// In a table that this package created, foreign keys to other tables are checked for each row, and
/// those to the table itself at the end of the transaction. A new column locks its table until the
/// end of the transaction, and a new table or column delays requests that create others.
package struct ImportServedRows: ComposableOperation {
  private let type: String
  private let database: any ServedRecordDatabase
  private let path: String
  private let descriptor: Int32?
  private let format: ImportFormat
  private let existing: ExistingRowPolicy
  private let badRows: BadRowPolicy
  private let references: [String: String]
  private let creates: Bool
  private let rowsPerTransaction: Int?

  /// Creates an import.
  ///
  /// - Parameters:
  ///   - type: The type of the records, which is the name of the table.
  ///   - path: The path of the file, or the name of the descriptor in errors.
  ///   - descriptor: The open descriptor to read; nil to read the path.
  ///   - references: The columns whose cells are names of records, with the types of these records.
  ///   - creates: Whether a missing table is created, and missing columns of a table that this
  ///     package created.
  ///   - rowsPerTransaction: The number of rows of each transaction; nil for one transaction.
  /// - Precondition: `rowsPerTransaction` is at least 1, and the number of bad rows to skip is at
  ///   least 0.
  package init(
    _ type: String, into database: any ServedRecordDatabase, from path: String,
    open descriptor: Int32? = nil, as format: ImportFormat,
    existing: ExistingRowPolicy = .refused, badRows: BadRowPolicy = .refused,
    references: [String: String] = [:], creates: Bool = false, rowsPerTransaction: Int? = nil
  ) {
    ImportProblems.check(badRows, rowsPerTransaction: rowsPerTransaction)
    self.type = type
    self.database = database
    self.path = path
    self.descriptor = descriptor
    self.format = format
    self.existing = existing
    self.badRows = badRows
    self.references = references
    self.creates = creates
    self.rowsPerTransaction = rowsPerTransaction
  }

  package var operationName: String { "import \(type)" }

  /// Imports the file.
  ///
  /// - Returns: The path, the number of imported records, and the problems with skipped rows.
  /// - Throws: A ``RecordImportError``, a ``RecordError``, a ``RecordFileError``;
  ///   `CancellationError`.
  package func perform(in context: OperationContext) async throws -> ImportedFile {
    // Checked before a connection is opened.
    if descriptor == nil { try ImportSource.check(path) }
    return try await database.withWriter(of: type) { try load(with: $0, context) }
  }

  private func load(
    with writer: any ServedRowWriter, _ context: OperationContext
  ) throws -> ImportedFile {
    var source = try ImportSource(path, open: descriptor, format) { try writer.check() }
    defer { source.close() }
    var rows = RowImport(
      of: path, into: type, existing, references, addsColumns: creates,
      on: ServedImportTarget(writer, creates: creates))
    return try rows.load(&source, badRows, rowsPerTransaction: rowsPerTransaction, context)
  }
}
