import CompositeOperations
import Foundation
import PostgresOperations
import RecordOperations
import TestSupport

/// A schema into which files are imported.
struct ImportFixture {
  let schema: RecordSchema
  private let folder: TemporaryFolder

  /// - Parameter sql: Statements that create tables of another program; nil for no schema.
  init(_ sql: String? = nil, on server: PrivateServer = .shared) async throws {
    schema = try await RecordSchema(on: server)
    folder = try TemporaryFolder()
    if let sql { try await schema.create(sql) }
  }

  var file: String { folder["in"].path }

  func operation(
    into type: String = "t", in database: PostgresRecordDatabase? = nil,
    as format: ImportFormat = .csv, existing: ExistingRowPolicy = .refused, skips: Int = 0,
    references: [String: String] = [:], creates: Bool = false, rowsPerTransaction: Int? = nil
  ) -> ImportServedRows {
    ImportServedRows(
      type, into: database ?? schema.database(connections: 1), from: file, as: format,
      existing: existing, badRows: .skipped(atMost: skips), references: references,
      creates: creates, rowsPerTransaction: rowsPerTransaction)
  }

  func load(
    _ text: String, into type: String = "t", as format: ImportFormat = .csv,
    existing: ExistingRowPolicy = .refused, skips: Int = 0, references: [String: String] = [:],
    creates: Bool = false, rowsPerTransaction: Int? = nil
  ) async throws -> ImportedFile {
    try Data(text.utf8).write(to: folder["in"])
    return try await operation(
      into: type, as: format, existing: existing, skips: skips, references: references,
      creates: creates, rowsPerTransaction: rowsPerTransaction
    ).run().get()
  }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: folder["in"]) }

  /// Creates a pipe at the path of the file.
  ///
  /// - Returns: Its open end, which does not block.
  func pipe() throws -> FileHandle {
    guard unsafe mkfifo(file, 0o600) == 0, let handle = FileHandle(forUpdatingAtPath: file) else {
      throw CocoaError(.fileWriteUnknown)
    }
    return handle
  }

  /// Returns the first column of a query, without line feeds in it.
  func rows(_ sql: String) async throws -> [String] {
    try await schema.query(sql).split(separator: "\n").map(String.init)
  }
}

/// Returns the problems of an import, or its error.
func importProblems(_ body: () async throws -> ImportedFile) async -> [String] {
  do { return try await body().problems.map { "\($0)" } } catch let error as RecordImportError {
    return ["refused"] + error.problems.map { "\($0)" }
  } catch { return ["\(error)"] }
}

/// Calls a closure for each report of progress.
struct ProgressSignal: OperationObserver {
  let action: @Sendable () -> Void

  func observe(_ event: OperationEvent) {
    if case .progressed = event.kind { action() }
  }
}
