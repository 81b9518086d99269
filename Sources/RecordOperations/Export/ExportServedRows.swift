package import CompositeOperations
internal import SystemSupport

/// An operation that writes the rows of a query in a database at an address to a file, from one
/// snapshot, as ``ExportRecords`` does for a SQLite file.
package struct ExportServedRows: ComposableOperation {
  private let query: RecordQuery
  private let database: any ServedRecordDatabase
  private let columns: [String]?
  private let limit: Int?
  private let path: String
  private let descriptor: Int32?
  private let formatter: any RecordFormatter

  /// Creates an export.
  ///
  /// - Parameters:
  ///   - columns: The columns; nil for all columns of the table.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - path: The path of the file, or the name of the descriptor in errors; nil for a file in the
  ///     working directory that is named after the type.
  ///   - descriptor: The open descriptor to write to; nil to write to the path.
  package init(
    _ query: RecordQuery, in database: any ServedRecordDatabase, columns: [String]?, limit: Int?,
    to path: String?, open descriptor: Int32? = nil, as formatter: any RecordFormatter
  ) {
    self.query = query
    self.database = database
    self.columns = columns
    self.limit = limit
    self.path = path ?? ExportRecords.path(for: query.type, formatter.fileExtension)
    self.descriptor = descriptor
    self.formatter = formatter
  }

  package var operationName: String { "export \(query.type)" }

  /// Writes the file.
  ///
  /// - Throws: A ``RecordError``, a ``FieldValueError``, a ``RecordFileError``, any error of the
  ///   formatter; `CancellationError`.
  package func perform(in context: OperationContext) async throws -> ExportedFile {
    let target = try RecordFileError.writing(path) {
      if let descriptor { return FileTarget(FileDescriptor(rawValue: descriptor), name: path) }
      return try FileTarget(path)
    }
    let columns = try await selectedColumns()
    var query = query
    query.keys = columns.filter { !$0.isName }.map(\.name)
    return try await database.withSnapshot(of: query, limit: limit) { rows in
      try write(rows, columns, to: target, context)
    }
  }

  private func selectedColumns() async throws -> [ServedColumn] {
    let all = try await database.columns(of: query.type)
    guard let columns else { return all }
    var seen: Set<[UInt8]> = []
    return try columns.map { name in
      guard let column = all.first(where: { $0.name.hasSameBytes(as: name) }) else {
        throw missing(name, all)
      }
      guard seen.insert(Array(name.utf8)).inserted else {
        throw RecordError(.invalid("the column \(name) is named twice"))
      }
      return column
    }
  }

  private func missing(_ name: String, _ columns: [ServedColumn]) -> RecordError {
    let names = columns.map(\.name).joined(separator: ", ")
    if name.contains(".") {
      return RecordError(
        .unsupported(
          """
          \(query.type) has no column \(name.shortText), and paths across references are only for a \
          SQLite file; columns: \(names)
          """))
    }
    return RecordError(
      .invalid("\(query.type) has no column \(name.shortText); columns: \(names)"))
  }

  private static let blockSize = 1 << 18

  private func write(
    _ rows: ServedRows, _ columns: [ServedColumn], to target: FileTarget,
    _ context: OperationContext
  ) throws -> ExportedFile {
    let names = columns.map(\.name)
    var (bytes, recordCount, byteCount) = ([UInt8](), 0, 0)
    try RecordFileError.writing(path) {
      try unsafe target.write(synchronized: true, rows.check) { write in
        func flush() throws {
          try unsafe bytes.withUnsafeBytes { try unsafe write($0) }
          byteCount += bytes.count
          bytes.removeAll(keepingCapacity: true)
        }
        // Before the header, so that an error of the query writes nothing.
        var page = try rows.next()
        try formatter.appendHeader(for: names, to: &bytes)
        while !page.isEmpty {
          for record in page {
            try rows.check()
            if recordCount > 0 { formatter.appendDelimiter(to: &bytes) }
            recordCount += 1
            do {
              let values = try columns.map {
                try formatter.transform($0.exportedValue(of: record), of: $0.name)
              }
              try formatter.append(values, for: names, to: &bytes)
            } catch let error as FieldValueError { throw error.at(row: recordCount) }
            if bytes.count >= Self.blockSize { try flush() }
          }
          context.report(recordCount, of: nil, unit: "records")
          page = try rows.next()
        }
        try formatter.appendFooter(for: names, after: recordCount, to: &bytes)
        try flush()
      }
    }
    return ExportedFile(path: path, recordCount: recordCount, byteCount: byteCount)
  }
}
