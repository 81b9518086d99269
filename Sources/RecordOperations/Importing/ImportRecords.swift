public import CompositeOperations

/// Puts the records of a file into a table.
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
/// The header of the file, or the keys of its objects, name columns of the table. A table that is not there is made for
/// records, as it is when they are saved, with columns of texts for CSV and of the kinds of the first values for JSON.
/// A table made so gets the columns that it has not where `addsColumns` says so. Where the names of the records are not in the file
/// (`id`), they get new ones. Into a table of another program only what is in the file is put, and its triggers, checks
/// and foreign keys are those that it has.
///
/// Cells are data and nothing else: whatever is in one, it is bound to a statement, and never part of it.
///
/// A row that cannot be taken is told with its line and the reason: it has too few or too many cells, a value is not
/// one of its column, or the table refuses it. Whether the others are put in all the same is what `badRows` says.
///
/// Everything is done in one transaction, so that a run that fails or is cancelled leaves the table as it was, or in one
/// for every so many rows; then it leaves whole ones. What is saved meanwhile by the same database waits until it has
/// ended; others who write the file may be told that it is locked.
///
/// A transaction needs free space for its rows about twice: in the log beside the database, and in the database. However
/// the import ends, the log is cut afterwards, unless another connection is using it. An import that fails before anything
/// is put in removes a database file that it has made itself, unless another connection uses the file.
///
/// The run tells how many bytes of the file it has read. It throws a ``RecordImportError`` for bad rows, and for
/// whatever ends it when some transactions were made; else a ``RecordError`` for what the database says, and a
/// ``RecordFileError`` for what is wrong with the file as a whole. If it is cancelled then, the error is that of
/// ``CompositeOperations/OperationRun/late``.
public struct ImportRecords: ComposableOperation {
  public let type: String
  public let database: SQLiteRecordDatabase
  public let path: String
  public let format: ImportFormat
  public let existing: ExistingRowPolicy
  public let badRows: BadRowPolicy
  /// The types to which the references of columns lead whose cells have names alone.
  public let references: [String: String]
  /// Whether a table that was made for records gets the columns that the file has and it has not.
  public let addsColumns: Bool
  /// How many rows are put in at once; nil if all are.
  public let rowsPerTransaction: Int?
  /// What is read in place of a file; nil if there is one.
  private var descriptor: Int32?

  /// - Parameters:
  ///   - type: The type of the records, which is the name of the table.
  ///   - database: Where it is.
  ///   - path: The file. It may be a pipe or a device, too.
  ///   - format: How it is read.
  ///   - existing: What becomes of a row whose key is there already.
  ///   - badRows: What becomes of the file when a row cannot be taken.
  ///   - references: The types to which the references of columns lead, where they are not foreign keys and the cells
  ///     have names alone: `["author": "Author"]`.
  ///   - addsColumns: Whether a table that was made for records gets the columns that the file has and it has not. If
  ///     not, such a file is refused, and a row of JSON that has one is a bad one.
  ///   - rowsPerTransaction: How many rows are put in at once; nil if all are. In between others may write the file, but
  ///     not this database.
  /// - Precondition: Less than one row is not put in at once, and not less than none left out.
  public init(
    _ type: String, into database: SQLiteRecordDatabase, from path: String,
    as format: ImportFormat, existing: ExistingRowPolicy = .refused,
    badRows: BadRowPolicy = .refused,
    references: [String: String] = [:], addsColumns: Bool = false, rowsPerTransaction: Int? = nil
  ) {
    precondition(
      rowsPerTransaction ?? 1 >= 1,
      "`rowsPerTransaction` must be at least 1 (was \(rowsPerTransaction ?? 0))")
    if case .skipped(let count) = badRows {
      precondition(count >= 0, "`atMost` of `badRows` must be at least 0 (was \(count))")
    }
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

  /// It, read from a descriptor that is open, from where that stands, and stays so.
  ///
  /// - Parameter name: What that is called in errors.
  package static func reading(
    from descriptor: Int32, called name: String, _ make: (_ path: String) -> ImportRecords
  ) -> ImportRecords {
    var load = make(name)
    load.descriptor = descriptor
    return load
  }

  public var operationName: String { "import \(type)" }

  public func perform(in context: OperationContext) async throws -> ImportedFile {
    // Before a database is made for it.
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
    if source.size ?? .max > SQLiteConnection.ordinaryLogSize { connection.copyLog() }
    defer { connection.cutLog() }
    var table = SQLiteImport(
      of: path, into: type, existing, references, addsColumns: addsColumns,
      database.options.access, on: connection)
    let ledger = ImportLedger(badRows)
    return try load(&source, into: &table, ledger, connection, context)
  }

  private func load(
    _ source: inout ImportSource, into table: inout SQLiteImport, _ ledger: ImportLedger,
    _ connection: SQLiteConnection, _ context: OperationContext
  ) throws -> ImportedFile {
    var ledger = ledger
    var committed = 0
    do {
      // What is no file, such as a pipe, may keep it waiting, which nobody else should have to do, too.
      var next = try source.next(atMost: rowsPerTransaction ?? .max)
      while next != nil {
        committed += try connection.transaction(.writing) {
          var room = rowsPerTransaction ?? .max
          var count = 0
          while let rows = next {
            // Rows that are all bad come to no statement that would notice.
            if connection.isCancelled { throw CancellationError() }
            room -= rows.count
            count += try table.insert(rows, &ledger)
            context.report(source.byteCount, of: source.size, unit: "bytes")
            if room == 0 { break }
            next = try source.next(atMost: room)
          }
          try table.checkReferences()
          return count
        }
        if next != nil { next = try source.next(atMost: rowsPerTransaction ?? .max) }
      }
    } catch let error as ImportLedger.Full {
      throw RecordImportError(path, error.problems, recordCount: committed, cause: nil)
    } catch  where committed > 0 {
      let cause = (error as? SQLiteError)?.translated ?? error
      throw RecordImportError(path, ledger.problems, recordCount: committed, cause: cause)
    }
    return ImportedFile(path: path, recordCount: committed, problems: ledger.problems)
  }
}

/// A file whose records were put into a table.
public struct ImportedFile: Hashable, Sendable {
  public let path: String
  /// How many records were put in or updated.
  public let recordCount: Int
  /// What is wrong with the rows that were left out, in their order.
  public let problems: [RowProblem]
}

/// A file has more rows that cannot be taken than may be left out, or an import has ended in between its transactions.
public struct RecordImportError: Error, Sendable {
  public let path: String
  /// What is wrong with the rows, in their order, up to the one that was too many.
  public let problems: [RowProblem]
  /// How many records are in the table all the same, by transactions that were made before.
  public let recordCount: Int
  /// What has ended the import, when some were in the table already: a ``RecordError``, a ``RecordFileError``, a
  /// `CancellationError`. Nil if the bad rows have.
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
