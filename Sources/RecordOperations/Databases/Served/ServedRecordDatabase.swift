internal import CompositeOperations

/// A database of records at an address, for programs that show and export the rows of any table.
package protocol ServedRecordDatabase: RecordDatabase {
  /// Returns the names of the tables, without views, and why one cannot be mirrored; nil if it can.
  ///
  /// - Throws: A ``RecordError`` if the request fails; `CancellationError`.
  func mirrorProblems() async throws -> [String: String?]

  /// Returns the tables and views, sorted by their names.
  ///
  /// - Throws: A ``RecordError`` if the request fails; `CancellationError`.
  func tables() async throws -> [ServedTable]

  /// Returns the columns of a table or a view.
  ///
  /// - Throws: A ``RecordError`` that lists the tables if there is no such table, or if the request
  ///   fails; `CancellationError`.
  func columns(of table: String) async throws -> [ServedColumn]

  /// Reads the rows of a query from one snapshot.
  ///
  /// - Parameter body: Runs on a thread that may wait. It may run again if it has received no rows.
  /// - Throws: A ``RecordError`` if the query is invalid or the request fails; the error of the body;
  ///   `CancellationError`.
  func withSnapshot<Response: Sendable>(
    of query: RecordQuery, limit: Int?,
    _ body: @escaping @Sendable (ServedRows) throws -> Response
  ) async throws -> Response

  /// Tracks the changes of tables from now on.
  ///
  /// - Throws: A ``RecordError`` if a table does not exist or cannot be tracked, or if the request
  ///   fails; `CancellationError`.
  func keepChanges(of types: [String]) async throws

  /// Closes the connections.
  func close() async
}

/// The rows of a query in a snapshot.
package struct ServedRows {
  /// Returns the next rows; empty after the last one.
  package let next: () throws -> [DatabaseRecord]
  /// Throws a `CancellationError` if the task is cancelled.
  package let check: () throws -> Void

  package init(
    next: @escaping () throws -> [DatabaseRecord], check: @escaping () throws -> Void
  ) {
    self.next = next
    self.check = check
  }
}

/// A table or a view of a database.
package struct ServedTable: Sendable {
  package let name: String
  /// "table" or "view".
  package let kind: String
  /// Nil if the table cannot be read, or is a view with more than ``countedViewRows`` rows.
  package let rowCount: Int?
  package let columns: [ServedColumn]
  /// Why the table cannot be read; nil if it can.
  package let problem: String?

  /// The maximum number of rows of a view that are counted, because a view can be slow or endless.
  package static let countedViewRows = 100_000

  package init(
    name: String, kind: String, rowCount: Int?, columns: [ServedColumn], problem: String?
  ) {
    self.name = name
    self.kind = kind
    self.rowCount = rowCount
    self.columns = columns
    self.problem = problem
  }
}

/// A column of a table or a view.
package struct ServedColumn: Sendable {
  /// The meaning of the values of a column.
  package enum Meaning: Hashable, Sendable {
    case integer
    case text
    case date
    /// The type and the name of a record, which need not exist.
    case keptReference
    /// A key of another table.
    case foreignKey(type: String, RecordReference.DeleteRule, isInteger: Bool)
    /// Any other field.
    case other
    /// A type that no field can hold.
    case unsupported
  }

  package let name: String
  /// The type, as the database writes it.
  package let declaredType: String
  /// Whether it is a part of the primary key.
  package let isKey: Bool
  /// Whether its value is the name of the record, and no field.
  package let isName: Bool
  package let meaning: Meaning

  package init(name: String, declaredType: String, isKey: Bool, isName: Bool, meaning: Meaning) {
    self.name = name
    self.declaredType = declaredType
    self.isKey = isKey
    self.isName = isName
    self.meaning = meaning
  }

  /// Returns the value of the column in a file. A key that is an integer stays an integer, as in the
  /// table.
  func exportedValue(of record: DatabaseRecord) -> FieldValue {
    let value: FieldValue = isName ? .string(record.id.name) : record[name]
    switch (meaning, value) {
    case (.integer, .string(let text)): return Int64(text).map { .integer($0) } ?? value
    case (.foreignKey(_, _, isInteger: true), .reference(let reference)):
      return Int64(reference.id.name).map { .integer($0) } ?? value
    default: return value
    }
  }
}
