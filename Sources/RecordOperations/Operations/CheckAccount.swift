public import CompositeOperations

/// Asks whether a database is there for whoever asks.
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
  public let database: any RecordDatabase
  public let retries: RequestRetries

  /// - Parameters:
  ///   - database: Which.
  ///   - retries: How often it is asked where the request fails.
  public init(_ database: any RecordDatabase, retries: RequestRetries = .standard) {
    self.database = database
    self.retries = retries
  }

  public var operationName: String { "check account" }

  public func perform(in context: OperationContext) async throws -> AccountStatus {
    let database = database
    return try await context.run(
      ReadRequest(operationName: "account", retries: retries) {
        try await database.accountStatus()
      })
  }
}

extension Condition {
  /// Met where a database is there for whoever asks.
  ///
  /// Without an account, and where it may not be used, it is not met, and the operation is skipped. Where that cannot
  /// be told or the database is not there at the moment, it fails with an ``AccountError``.
  ///
  /// - Parameters:
  ///   - database: Which.
  ///   - retries: How often it is asked where the request fails.
  public static func account(
    in database: any RecordDatabase, retries: RequestRetries = .standard
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

/// A database cannot say whether it is there for whoever asks, or is not there at the moment.
public struct AccountError: Error, Sendable, CustomStringConvertible {
  public let status: AccountStatus

  public var description: String {
    status == .temporarilyUnavailable
      ? "the database is temporarily unavailable"
      : "the account status could not be determined"
  }
}
