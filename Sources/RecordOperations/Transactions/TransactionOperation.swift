public import CompositeOperations

/// An operation that runs another one in a transaction: commits its changes if it succeeds, and
/// rolls all of them back otherwise.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let database = SQLiteRecordDatabase("library.sqlite")
/// let books = [DatabaseRecord("Book", "1"), DatabaseRecord("Book", "2")]
/// let move = TransactionOperation(in: database) { transaction in
///   ParallelOperation(books.map { book in
///     transaction.savepoint { part in
///       DeleteRecords([book.id], in: part, ignoringMissing: true)
///         .then { _ in SaveRecords([DatabaseRecord("Shelved", book.id.name)], in: part) }
///     }.ignoringErrors(with: [DatabaseRecord]())
///   })
/// }
/// let moved = try await move.run().get()
/// ```
///
/// The operations in the transaction use it as their database, and see its changes. Other readers
/// see them after the commit, and other writers of the file wait. An operation in the transaction
/// that uses the database itself reads the old state, and throws if it writes. For a part that may
/// fail on its own, use a savepoint: ``RecordTransaction/savepoint(_:)``.
///
/// An error or a cancellation rolls back all changes, and so does the end of the process. A
/// cancellation during the commit may come too late to roll back. The outcome is cancelled all the
/// same, and the result is the late outcome.
public struct TransactionOperation<Success: Sendable>: ComposableOperation {
  /// The database of the transaction.
  public let database: SQLiteRecordDatabase

  private let body: @Sendable (RecordTransaction) throws -> AnyOperation<Success>

  /// Creates an operation that runs another one in a transaction.
  ///
  /// - Parameters:
  ///   - database: The database of the transaction.
  ///   - body: Makes the operation, given the transaction.
  public init<Body: ComposableOperation>(
    in database: SQLiteRecordDatabase,
    _ body: @escaping @Sendable (RecordTransaction) throws -> Body
  ) where Body.Success == Success {
    self.database = database
    self.body = { AnyOperation(try body($0)) }
  }

  public var operationName: String { "transaction" }

  public func perform(in context: OperationContext) async throws -> Success {
    try database.checkNoTransaction()
    let transaction = RecordTransaction(of: database)
    do {
      try await transaction.begin()
      let result = try await transaction.enter {
        try await context.run(try body(transaction))
      }
      try Task.checkCancellation()
      try await transaction.commit()
      return result
    } catch {
      await transaction.rollBack()
      throw error
    }
  }
}
