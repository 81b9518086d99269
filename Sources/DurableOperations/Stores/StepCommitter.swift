/// Makes other changes in the transaction in which a store keeps the result of an operation.
///
/// The type of the connection shows whether an operation can make its changes there: those of records
/// in SQLite need an SQLite connection.
package protocol StepCommitter<Connection>: Sendable {
  /// The type of the connection with which the changes are made.
  associatedtype Connection

  /// The path of the file, or the address of the database, in which the changes are made.
  var database: String { get }

  /// Makes changes, and stores the row that they return: a finished step, or a key of the step in
  /// progress.
  ///
  /// - Parameters:
  ///   - dropped: The positions of the steps to delete with a finished step.
  ///   - hasKeys: Whether the step may have keys, which are deleted with a finished step.
  ///   - changes: Makes the changes. It may run several times, until it is committed.
  /// - Returns: The value of the changes, with the stored row.
  /// - Throws: The error of the changes; a ``DurableRunError`` if the
  ///   claim is not valid any more. Nothing has changed then.
  func commit<Value: Sendable>(
    dropping dropped: Range<Int>, hasKeys: Bool, by claim: ClaimToken,
    _ changes: @escaping @Sendable (Connection) throws -> CommittedValue<Value>
  ) async throws -> CommittedValue<Value>
}
