import CompositeOperations
import RecordOperations

/// An operation that exports the rows that the arguments select.
struct ExportRows: ComposableOperation {
  let arguments: RecordsArguments
  let database: SQLiteRecordDatabase
  let formatter: any RecordFormatter
  /// The output file; `-` for standard output, nil for a file named after the table.
  let output: String?
  let limit: Int?

  var operationName: String { "\(arguments.action.rawValue) \(arguments.table)" }

  func perform(in context: OperationContext) async throws -> ExportedFile {
    let query = try await RowQuery(arguments, in: database).records
    return try await context.run(
      output == "-"
        ? ExportRecords.writing(to: 1, called: "standard output") { export(query, to: $0) }
        : export(query, to: output))
  }

  private func export(_ query: RecordQuery, to path: String?) -> ExportRecords {
    ExportRecords(
      query, in: database, columns: arguments.columns, limit: limit, to: path, as: formatter)
  }
}
