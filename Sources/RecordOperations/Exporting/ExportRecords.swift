public import CompositeOperations
internal import SystemFiles

/// Writes what a query finds to a file.
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
/// A column is a key, or a path of keys across references. What a reference leads to is looked up for each record; where
/// it leads nowhere, there is null. A key of another table that is a whole number stays one.
///
/// Whatever is in a column of bytes, one declared as `BLOB`, goes out as bytes, so that all of them come back. A text
/// that is not in UTF-8 goes out from no other column: it is refused, unless the formatter transforms it, which gets
/// its bytes.
///
/// All of it is as the database was at one moment: others may go on writing meanwhile. It is written to another file
/// beside the one that is asked for, which takes its name when it is whole and on the disk. A run that fails or is
/// cancelled leaves the old file as it was, and nothing beside it. What is no file, such as a device or a pipe, is
/// written as it comes.
///
/// The run tells how many records it has written, and of how many if all of a table are wanted. It throws a
/// ``RecordError`` for what the database says, a ``FieldValueError`` that names row and column for a value that the file
/// cannot have, and a ``RecordFileError`` for what is wrong with the file.
public struct ExportRecords: ComposableOperation {
  public let query: RecordQuery
  public let database: SQLiteRecordDatabase
  /// The paths of the columns; nil for all columns that the table has, in its order.
  public let columns: [String]?
  /// How many records are wanted at most; nil for all.
  public let limit: Int?
  /// Where the file is to be.
  public let path: String
  public let formatter: any RecordFormatter
  /// What is written in place of a file; nil if there is one.
  private var descriptor: Int32?

  /// - Parameters:
  ///   - query: Which records, and in which order.
  ///   - database: Where they are.
  ///   - columns: The paths of the columns; nil for the keys of the query, or all columns that the table has.
  ///   - limit: How many records are wanted at most; nil for all.
  ///   - path: Where the file is to be; nil for one in the working folder that is called as the type, `Book.csv`.
  ///   - formatter: How the records are written.
  /// - Precondition: The limit is not negative.
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

  /// - Parameters:
  ///   - type: The type of the records, which is the name of a table or a view.
  ///   - database: Where they are.
  ///   - predicate: What has to be so of them; nil for all.
  ///   - order: Which is the first.
  ///   - columns: The paths of the columns; nil for all columns that the table has, in its order.
  ///   - limit: How many records are wanted at most; nil for all.
  ///   - path: Where the file is to be; nil for one in the working folder that is called as the type, `Book.csv`.
  ///   - formatter: How the records are written.
  /// - Precondition: The limit is not negative.
  public init(
    _ type: String, in database: SQLiteRecordDatabase, where predicate: RecordPredicate? = nil,
    sortedBy order: [RecordOrder] = [], columns: [String]? = nil, limit: Int? = nil,
    to path: String? = nil, as formatter: some RecordFormatter
  ) {
    self.init(
      RecordQuery(type, where: predicate, sortedBy: order), in: database, columns: columns,
      limit: limit, to: path, as: formatter)
  }

  /// It, written to a descriptor that is open, and stays so.
  ///
  /// - Parameter name: What that is called in errors.
  package static func writing(
    to descriptor: Int32, called name: String, _ make: (_ path: String) -> ExportRecords
  ) -> ExportRecords {
    var export = make(name)
    export.descriptor = descriptor
    return export
  }

  /// A type is no path.
  private static func path(for type: String, _ fileExtension: String) -> String {
    // Letter by letter: a mark may stand over the slash.
    String(String.UnicodeScalarView(type.unicodeScalars.map { $0 == "/" ? "_" : $0 }))
      + "." + fileExtension
  }

  public var operationName: String { "export \(query.type)" }

  public func perform(in context: OperationContext) async throws -> ExportedFile {
    let target = try RecordFileError.writing(path) {
      if let descriptor { return FileTarget(OpenFile(descriptor: descriptor), name: path) }
      return try FileTarget(path)
    }
    try refuse(target)
    // A connection of its own, so that an export keeps no queries waiting.
    let worker = database.worker(for: .reading)
    do {
      let file = try await worker.run { connection in
        try connection.transaction(.reading) {
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

  /// To replace the database by a part of it would be to lose the rest.
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

/// A file that was written.
public struct ExportedFile: Hashable, Sendable {
  public let path: String
  /// How many records it has.
  public let recordCount: Int
  /// How large it is.
  public let byteCount: Int
}
