public import CompositeOperations

/// Runs an operation in one transaction of a database: what it saves is there when it has ended in a result, all of it,
/// and otherwise none of it.
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
/// The transaction is a database itself, for the operations in it, which see what is done in it; nobody else sees it
/// before its end, and nobody else writes the file meanwhile: what its operations do by the database itself, instead of by
/// the transaction, finds what was there before, and is refused where it would write. A part of it that may fail without
/// the rest has a savepoint, ``RecordTransaction/savepoint(_:)``.
///
/// An error and a cancellation undo all; so does the end of the program. A cancellation that comes when the transaction is
/// being committed may be too late: the outcome is cancelled all the same, and the result is what came late.
public struct TransactionOperation<Success: Sendable>: ComposableOperation {
  public let database: SQLiteRecordDatabase

  private let body: @Sendable (RecordTransaction) throws -> AnyOperation<Success>

  /// - Parameters:
  ///   - database: Where.
  ///   - body: Makes the operation that is run in the transaction.
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
      let result = try await transaction.entered {
        try await context.run(try body(transaction))
      }
      try Task.checkCancellation()
      try await transaction.commit()
      return result
    } catch {
      await transaction.abandon()
      throw error
    }
  }
}
