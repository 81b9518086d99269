/// The table of an import, on one connection to its database.
protocol ImportTarget: AnyObject {
  associatedtype Table: ImportTable
  associatedtype Plan: ImportPlan

  /// Throws a `CancellationError` if the import is cancelled.
  func check() throws

  /// Runs a body in a transaction, which is rolled back if the body throws.
  func transaction<Response>(_ body: () throws -> Response) throws -> Response

  /// Returns the table; nil if it is missing and may be created.
  ///
  /// - Throws: An error that ends the import, also if the table can only be queried.
  func table() throws -> Table?

  /// Creates the table or its columns for fields. Changes nothing if it throws.
  ///
  /// - Parameter fields: The fields in the order of new columns. A value determines the type.
  func table(creating fields: [(key: String, value: FieldValue)]) throws -> Table

  /// Returns the plan for rows with columns of the table.
  ///
  /// - Parameter references: The types of references whose cells contain only names, by column.
  /// - Throws: An ``ImportRejection`` or an error that ends the import.
  func plan(
    for columns: [String], of table: Table, references: [String: String],
    existing: ExistingRowPolicy
  ) throws -> Plan

  /// Inserts the rows that plans have collected.
  ///
  /// - Returns: The number of records that were inserted or updated.
  func insertCollected(_ problems: inout [RowProblem]) throws -> Int

  /// Checks the constraints that are deferred to the end of the transaction.
  ///
  /// - Throws: A ``RecordError`` that names the violated ones.
  func checkDeferredConstraints() throws

  /// Returns the form of a name that is the same for all names of a column.
  func folded(_ name: String) -> [UInt8]

  /// Returns the reason why the table rejects an object; nil if the error is not about the object.
  func rejection(_ error: any Error) -> String?

  /// Returns the error for callers of an import.
  func translated(_ error: any Error) -> any Error
}

/// A table into which rows are imported.
protocol ImportTable {
  var name: String { get }
  /// Whether it was created here, and not by another program.
  var isOwn: Bool { get }
  /// The names of the columns that can be set, in order.
  var writableColumns: [String] { get }

  func hasColumn(_ name: String) -> Bool
  /// Returns whether a column gets its type with its first value.
  func isUntyped(_ column: String) -> Bool
  /// Returns whether a column holds references with the rule `.keep`.
  func isKeptReference(_ column: String) -> Bool
  /// Returns the error for a missing column.
  func missing(_ column: String) -> RecordError
}

/// Inserts rows with the same columns.
protocol ImportPlan {
  /// Inserts or collects rows of cells.
  ///
  /// - Returns: The number of records that were inserted or updated.
  /// - Throws: An error that ends the import.
  func insertCells(of rows: ImportedRows, _ problems: inout [RowProblem]) throws -> Int

  /// Inserts or collects objects.
  ///
  /// - Parameter objects: Objects whose keys are the names of the columns, in their order.
  /// - Returns: The number of records that were inserted or updated.
  /// - Throws: An error that ends the import.
  func insert(
    _ objects: ArraySlice<JSONBatch.Object>, _ problems: inout [RowProblem]
  ) throws -> Int
}

extension ExistingRowPolicy {
  /// Checks that the columns of a file identify existing rows.
  ///
  /// - Parameter keys: The columns of the primary key.
  /// - Throws: A ``RecordError``.
  func check(_ columns: [String], identifyRowsOf table: String, by keys: [String]) throws {
    guard self != .refused, keys.isEmpty || !Set(columns).isSuperset(of: keys) else { return }
    throw RecordError(
      .invalid(
        keys.isEmpty
          ? "\(table) has no primary key that identifies existing rows"
          : """
          rows of \(table) are identified by \(keys.joined(separator: ", ")), and the file \
          does not have all of these columns
          """
      ))
  }
}

extension ImportRejection {
  static let noValues = ImportRejection(text: "it has no values")

  /// The rejection of a row with another number of cells than the file has columns.
  static func cellCount(_ count: Int, expected: Int) -> ImportRejection {
    let found = count == 1 ? "1 cell" : "\(count) cells"
    return ImportRejection(text: "it has \(found); expected \(expected), one for each column")
  }

  static let discarded = ImportRejection(
    text: "the table discarded it, by a trigger or another rule")

  /// The text that follows the error for a row whose key exists.
  static let existing = ", and existing rows are neither updated nor kept"
}

extension RecordError {
  /// The error for a column that cannot be set.
  static func computedColumn(_ column: String, of table: String) -> RecordError {
    RecordError(.invalid("the column \(column) of \(table) is computed: it cannot be set"))
  }

  /// The error for a view.
  static func view(_ name: String) -> RecordError {
    RecordError(.unsupported("\(name) is a view, which can only be queried"))
  }
}
