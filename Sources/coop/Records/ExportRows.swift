import CompositeOperations
import RecordOperations

/// An operation that exports the rows that the arguments select.
struct ExportRows: ComposableOperation {
  let arguments: RecordsArguments
  let database: RecordsPlace
  let formatter: any RecordFormatter
  /// The output file; `-` for standard output, nil for a file named after the table.
  let output: String?
  let limit: Int?

  var operationName: String { "\(arguments.action.rawValue) \(arguments.table)" }

  func perform(in context: OperationContext) async throws -> ExportedFile {
    let query = try await RowQuery(arguments, in: database).records
    switch database {
    case .file(let file):
      return try await context.run(
        output == "-"
          ? ExportRecords.writing(to: 1, called: "standard output") {
            export(query, in: file, to: $0)
          }
          : export(query, in: file, to: output))
    case .server(let server): return try await context.run(export(query, in: server))
    }
  }

  private func export(
    _ query: RecordQuery, in file: SQLiteRecordDatabase, to path: String?
  ) -> ExportRecords {
    ExportRecords(
      query, in: file, columns: arguments.columns, limit: limit, to: path, as: formatter)
  }

  private func export(
    _ query: RecordQuery, in server: any ServedRecordDatabase
  ) -> ExportServedRows {
    let isStandardOutput = output == "-"
    return ExportServedRows(
      query, in: server, columns: arguments.columns, limit: limit,
      to: isStandardOutput ? "standard output" : output, open: isStandardOutput ? 1 : nil,
      as: formatter)
  }
}
