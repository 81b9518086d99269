internal import CompositeOperations

/// A database of records at an address, for programs that show, export and import the rows of
/// any table.
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

  /// Inserts rows into a table, on one connection.
  ///
  /// If the task is cancelled, the server rolls back the open transaction. The body then throws
  /// at its next call of the writer.
  ///
  /// - Parameter body: Runs once, on a thread that may wait.
  /// - Throws: The error of the body; a ``RecordError`` if the database cannot be reached;
  ///   `CancellationError`.
  func withWriter<Response: Sendable>(
    of type: String, _ body: @escaping @Sendable (any ServedRowWriter) throws -> Response
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
