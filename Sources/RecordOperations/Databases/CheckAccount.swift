public import CompositeOperations

/// An operation that checks whether a database is available to the current user.
///
/// ```swift
/// import CompositeOperations
/// import RecordOperations
///
/// let database = MemoryRecordDatabase()
/// let status = try await CheckAccount(database).run().get()
///
/// let query = QueryRecords("Book", in: database).requiring(.account(in: database))
/// ```
public struct CheckAccount: ComposableOperation {
  /// The database to check.
  public let database: any RecordDatabase
  /// How often the request is attempted.
  public let retries: RetryPolicy

  /// Creates a check of a database.
  ///
  /// - Parameters:
  ///   - database: The database to check.
  ///   - retries: How often the request is attempted.
  public init(_ database: any RecordDatabase, retries: RetryPolicy = .databaseDefault) {
    self.database = database
    self.retries = retries
  }

  public var operationName: String { "check account" }

  /// Fetches the account status.
  ///
  /// - Throws: A ``RecordError`` if the last attempt fails; `CancellationError`.
  public func perform(in context: OperationContext) async throws -> AccountStatus {
    let database = database
    return try await context.run(
      readRequest("account", retries: retries) {
        try await database.accountStatus()
      })
  }
}

extension Condition {
  /// A condition that is met if a database is available to the current user.
  ///
  /// If the status is ``AccountStatus/noAccount`` or ``AccountStatus/restricted``, the condition is
  /// not met and the operation is skipped. If the status cannot be determined, or the database is
  /// temporarily unavailable, the condition fails with an ``AccountError``.
  ///
  /// - Parameters:
  ///   - database: The database to check.
  ///   - retries: How often the request is attempted.
  public static func account(
    in database: any RecordDatabase, retries: RetryPolicy = .databaseDefault
  ) -> Condition {
    Condition(
      CheckAccount(database, retries: retries).map { status in
        switch status {
        case .available: true
        case .noAccount: throw Skipped(because: "there is no account")
        case .restricted: throw Skipped(because: "the account is restricted")
        case .temporarilyUnavailable, .couldNotDetermine: throw AccountError(status: status)
        }
      })
  }
}

/// An error for a database that is temporarily unavailable, or whose account status cannot be
/// determined.
public struct AccountError: Error, Sendable, CustomStringConvertible {
  /// The account status.
  public let status: AccountStatus

  public var description: String {
    status == .temporarilyUnavailable
      ? "the database is temporarily unavailable"
      : "the account status could not be determined"
  }
}
