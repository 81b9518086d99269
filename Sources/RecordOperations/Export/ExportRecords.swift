public import CompositeOperations
internal import SQLiteSupport
internal import SystemSupport

/// An operation that writes the records of a query to a file.
///
/// ```swift
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let export = ExportRecords(
///   "Book", in: database, where: Field("pages") > 500, sortedBy: [.ascending("title")],
///   columns: ["title", "author.name", "author.country.code"], to: "books.csv", as: .csv)
/// let file = try await export.run().get()
/// print(file.recordCount, "records in", file.path)
/// ```
///
/// A column is a key, or a path of keys across references. References are resolved for each record;
/// a reference to a missing record gives null. A foreign key that is an integer is exported as an
/// integer.
///
/// A column that is declared as `BLOB` is exported as bytes, whatever its values, so that an import
/// restores them. Text that is not valid UTF-8 in any other column is an error, unless the
/// formatter transforms it; the formatter receives its bytes.
///
/// The file is a snapshot of the database: other connections can write during the export. The
/// export writes to a temporary file in the same folder, which replaces the old file when it is
/// complete and on disk. A run that fails or is cancelled leaves the old file unchanged and removes
/// the temporary one. If the path is not a regular file but, for example, a device or a pipe, the
/// export writes to it directly.
///
/// The run reports the number of records written, and their total if all records of a table are
/// exported. It throws a ``RecordError`` if the database fails, a ``FieldValueError`` with row and
/// column for a value that the format cannot represent, and a ``RecordFileError`` if the file
/// cannot be written. Errors of the formatter are thrown unchanged.
public struct ExportRecords: ComposableOperation {
  /// The records to export, and their order.
  public let query: RecordQuery
  /// The database of the records.
  public let database: SQLiteRecordDatabase
  /// The paths of the columns; `nil` for all columns of the table, in its order.
  public let columns: [String]?
  /// The maximum number of records; `nil` for all.
  public let limit: Int?
  /// The path of the file.
  public let path: String
  /// The format of the file.
  public let formatter: any RecordFormatter
  /// The open descriptor to write to; `nil` to write to the path.
  private var descriptor: Int32?

  /// Creates an export of a query.
  ///
  /// - Parameters:
  ///   - query: The records to export, and their order.
  ///   - database: The database of the records.
  ///   - columns: The paths of the columns; `nil` for the keys of the query, or all columns of the
  ///     table.
  ///   - limit: The maximum number of records; `nil` for all.
  ///   - path: The path of the file; `nil` for a file in the working directory that is named after
  ///     the type, such as `Book.csv`.
  ///   - formatter: The format of the file.
  /// - Precondition: `limit` is not negative.
  public init(
    _ query: RecordQuery, in database: SQLiteRecordDatabase, columns: [String]? = nil,
    limit: Int? = nil, to path: String? = nil, as formatter: some RecordFormatter
  ) {
    precondition(limit ?? 0 >= 0, "`limit` must be at least 0 (was \(limit ?? 0))")
    self.query = query
    self.database = database
    self.columns = columns ?? query.keys
    self.limit = limit
    self.path = path ?? Self.path(for: query.type, formatter.fileExtension)
    self.formatter = formatter
  }

  /// Creates an export of the records of a type.
  ///
  /// - Parameters:
  ///   - type: The type of the records, which is the name of a table or a view.
  ///   - database: The database of the records.
  ///   - predicate: The condition that the records meet; `nil` for all records.
  ///   - order: The order of the records.
  ///   - columns: The paths of the columns; `nil` for all columns of the table, in its order.
  ///   - limit: The maximum number of records; `nil` for all.
  ///   - path: The path of the file; `nil` for a file in the working directory that is named after
  ///     the type, such as `Book.csv`.
  ///   - formatter: The format of the file.
  /// - Precondition: `limit` is not negative.
  public init(
    _ type: String, in database: SQLiteRecordDatabase, where predicate: RecordPredicate? = nil,
    sortedBy order: [RecordOrder] = [], columns: [String]? = nil, limit: Int? = nil,
    to path: String? = nil, as formatter: some RecordFormatter
  ) {
    self.init(
      RecordQuery(type, where: predicate, sortedBy: order), in: database, columns: columns,
      limit: limit, to: path, as: formatter)
  }

  /// Returns an export that writes to an open descriptor, which stays open.
  ///
  /// - Parameters:
  ///   - descriptor: The open descriptor.
  ///   - name: The name of the descriptor in errors.
  ///   - make: Creates the export, with the name as its path.
  package static func writing(
    to descriptor: Int32, called name: String, _ make: (_ path: String) -> ExportRecords
  ) -> ExportRecords {
    var export = make(name)
    export.descriptor = descriptor
    return export
  }

  /// Returns the default file name for a type, in which slashes are replaced.
  static func path(for type: String, _ fileExtension: String) -> String {
    // By scalar: a slash with a combining mark is a different `Character`.
    String(String.UnicodeScalarView(type.unicodeScalars.map { $0 == "/" ? "_" : $0 }))
      + "." + fileExtension
  }

  public var operationName: String { "export \(query.type)" }

  /// Writes the file.
  ///
  /// - Returns: The path, the number of records and the size of the file.
  /// - Throws: A ``RecordError``, a ``FieldValueError``, a ``RecordFileError``, any error of the
  ///   formatter; `CancellationError`.
  public func perform(in context: OperationContext) async throws -> ExportedFile {
    let target = try RecordFileError.writing(path) {
      if let descriptor { return FileTarget(FileDescriptor(rawValue: descriptor), name: path) }
      return try FileTarget(path)
    }
    try refuse(target)
    // A separate connection, so that queries need not wait for an export.
    let worker = database.worker(for: .reading)
    do {
      let file = try await worker.run { connection in
        try connection.transaction(.deferred) {
          let rows = try SQLiteExport(query, columns: columns, limit: limit, on: connection)
          return try write(rows, to: target, connection, context)
        }
      }
      await worker.close()
      return file
    } catch {
      await worker.close()
      throw error
    }
  }

  /// Throws an error if the target is the database itself, which the export would overwrite.
  private func refuse(_ target: FileTarget) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      guard let own = try? FileTarget(database.path + suffix), target.isSamePlace(as: own) else {
        continue
      }
      throw RecordFileError(
        path, "cannot be written", because: "it is the database itself; choose another file")
    }
  }

  private func write(
    _ rows: SQLiteExport, to target: FileTarget, _ connection: SQLiteConnection,
    _ context: OperationContext
  ) throws -> ExportedFile {
    let check = { if connection.isCancelled { throw CancellationError() } }
    var (recordCount, byteCount) = (0, 0)
    try RecordFileError.writing(path) {
      try unsafe target.write(synchronized: true, check) { write in
        recordCount = try rows.write(as: formatter) { bytes in
          try unsafe bytes.withUnsafeBytes { try unsafe write($0) }
          byteCount += bytes.count
          bytes.removeAll(keepingCapacity: true)
        } report: { count in
          context.report(count, of: rows.total, unit: "records")
        }
      }
    }
    return ExportedFile(path: path, recordCount: recordCount, byteCount: byteCount)
  }
}

/// The result of an export.
public struct ExportedFile: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The number of records in the file.
  public let recordCount: Int
  /// The size of the file in bytes.
  public let byteCount: Int
}
