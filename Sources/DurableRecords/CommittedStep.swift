public import CompositeOperations
internal import DurableOperations
public import RecordOperations
internal import SQLiteSupport

/// An operation that saves records in the transaction in which the durable run stores its outcome,
/// so that they are saved exactly once.
///
/// ```swift
/// import DurableOperations
/// import DurableRecords
/// import RecordOperations
///
/// struct Shipment: Codable, Identifiable, RecordConvertible {
///   let id: Int
///   var parcels: Int
/// }
///
/// enum Shop {
///   // One file for the records and the journal.
///   static let database = SQLiteRecordDatabase("shop.sqlite")
///   static let store = RunStore.sqlite("shop.sqlite")
/// }
///
/// struct Ship: DurableSequence {
///   let shipment: Shipment
///
///   mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
///     guard previous == nil else { return nil }
///     return CommittedStep(in: Shop.database) { [shipment] records in
///       try records.save([shipment], policy: .ifUnchanged)
///     }
///   }
/// }
/// ```
///
/// In a durable run, the records, the outcome of the step, the state of the sequence and the history
/// are one transaction. After the end of the process at any time, either all of it is in the file or
/// nothing, and then the step runs again. If another process has taken the run over, nothing is
/// saved.
///
/// - If the closure throws, its changes are rolled back, and the step ends in that error.
/// - If the step is cancelled before the closure has returned, its changes are rolled back, and the
///   step has no outcome. A cancellation during the commit may come too late.
/// - Inside another operation, give it a key with `journaled(as:)`, directly: its result is then
///   stored under the key, in the transaction of the records.
///
/// The closure runs on the thread that writes the journal, so it cannot suspend, and task-local
/// values are not available in it. All other writes of the store wait for it. So prepare the records
/// before, and pass them to the closure. It runs again if the transaction has failed; only its
/// changes of records are rolled back.
///
/// Outside a durable run, the closure runs in a transaction of its own.
///
/// The operation ends in a ``CommittedStepError``, before the closure is called, if the journal is in
/// memory or in another file than the records, or if it is inside another operation without a key.
public struct CommittedStep<Success: Sendable>: ComposableOperation {
  /// The database of the records.
  public let database: SQLiteRecordDatabase
  private let body: @Sendable (RecordWriter) throws -> Success

  /// Creates an operation that saves records and has a result.
  ///
  /// - Parameters:
  ///   - database: The database of the records, in the file of the journal.
  ///   - body: Reads and saves records, and returns the result.
  public init(
    in database: SQLiteRecordDatabase, _ body: @escaping @Sendable (RecordWriter) throws -> Success
  ) where Success: Codable {
    self.database = database
    self.body = body
  }

  /// Creates an operation that saves records.
  ///
  /// - Parameters:
  ///   - database: The database of the records, in the file of the journal.
  ///   - body: Reads and saves records.
  public init(
    in database: SQLiteRecordDatabase, _ body: @escaping @Sendable (RecordWriter) throws -> Success
  ) where Success == Void {
    self.database = database
    self.body = body
  }

  public var operationName: String { "CommittedStep" }

  public func perform(in context: OperationContext) async throws -> Success {
    guard let context = CommitContext(context) else {
      return try await database.transaction(body)
    }
    do { return try await commit(in: context) } catch let error as SQLiteError {
      // A statement has rolled the transaction back, such as one in a trigger.
      throw error.translated
    }
  }

  /// Runs the closure in the transaction that stores its result.
  ///
  /// - Throws: A ``CommittedStepError``; a `RecordError` if the records cannot be written; the error
  ///   of the closure; a `DurableStepError`; the error of the coder or the store; a `SQLiteError` of
  ///   a statement; `CancellationError`.
  private func commit(in context: CommitContext) async throws -> Success {
    func error(_ reason: CommittedStepError.Reason) -> CommittedStepError {
      CommittedStepError(
        run: context.run, step: context.step, name: context.name, reason: reason,
        records: database.path, store: context.location)
    }
    guard let committer = context.committer as? any StepCommitter<SQLiteConnection> else {
      throw error(.noFile)
    }
    guard SQLiteFile(committer.database).isSame(as: SQLiteFile(database.path)) else {
      throw error(.otherFile)
    }
    guard let recorder = context.recorder else { throw error(.noKey) }
    try database.checkWriting()
    return try await context.commit(by: committer, as: recorder) {
      [body, options = database.options] connection, isCancelled in
      try RecordWriter.perform(in: connection, options, isCancelled: isCancelled, body)
    }
  }
}

extension CommittedStep: CommittingOperation {}
