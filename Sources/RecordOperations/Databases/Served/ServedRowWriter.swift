/// Inserts rows into a table of a database at an address, on one connection.
///
/// All functions throw a ``RecordError`` if a request fails as a whole, and a `CancellationError` if
/// the task is cancelled.
package protocol ServedRowWriter: AnyObject {
  /// Throws a `CancellationError` if the task is cancelled.
  func check() throws

  /// Runs a body in a transaction, which is rolled back if the body throws.
  ///
  /// A cancellation during the commit has no effect on it. After a commit whose reply is lost, the
  /// error is ``RecordError/Reason/replyLost``.
  func transaction<Response>(_ body: () throws -> Response) throws -> Response

  /// Returns the table, whose definition does not change until the transaction ends; nil if there
  /// is none.
  func table() throws -> ServedDefinition?

  /// Returns the error for a missing table, with the names of the others.
  func missingTable() throws -> RecordError

  /// Creates the table, or columns of a table that was created here. Changes nothing if it throws.
  ///
  /// - Parameter fields: The fields in the order of new columns. A value determines the type.
  func table(creating fields: [(key: String, value: FieldValue)]) throws -> ServedDefinition

  /// Inserts rows of the table in their order. A row that the table rejects does not affect the
  /// others.
  func insert(_ rows: [ServedRow], existing: ExistingRowPolicy) throws -> ServedInsertion

  /// Checks the constraints that are deferred to the end of the transaction.
  func checkDeferredConstraints() throws
}

/// A row to insert.
package struct ServedRow: Sendable {
  /// The names of the columns.
  package let columns: [String]
  /// The values of the columns.
  package let values: [FieldValue]
}

/// The result of an insertion of rows.
package struct ServedInsertion: Sendable {
  /// The number of rows that were inserted or updated.
  package var count = 0
  /// The rejected rows with the reasons.
  package var rejections: [(row: Int, reason: ServedRejection)] = []

  package init() {}
}

/// The reason why a table rejects a row.
package enum ServedRejection: Sendable {
  case invalid(String)
  /// A row with the same key exists.
  case existing(String)
  /// The table has not stored the row.
  case discarded
}

/// The definition of a table for an import.
package struct ServedDefinition: Sendable {
  package let name: String
  /// Whether rows can be inserted: it is no view and has no partitions.
  package let isPlain: Bool
  /// Whether it was created here, and not by another program.
  package let isOwn: Bool
  package let columns: [ServedColumn]

  package init(name: String, isPlain: Bool, isOwn: Bool, columns: [ServedColumn]) {
    (self.name, self.isPlain, self.isOwn, self.columns) = (name, isPlain, isOwn, columns)
  }
}
